/** A delivery as a provider sends it, before it is signed. */
export interface Sample {
  contentType: string;
  /** Names are in lower case. */
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** What a template is filled with. `now` is in Unix milliseconds. */
export interface SampleEvent {
  id: string;
  type: string;
  now: number;
}

/** How the deliveries of one provider look. */
export interface Template {
  /** The type of its event if none is asked for. */
  type: string;
  /** Makes an id in the provider's style. Absent if a delivery has no id. */
  newId?: () => string;
  headers?: (event: SampleEvent) => Record<string, string>;
  content:
    | { json: (event: SampleEvent) => unknown }
    | { form: (event: SampleEvent) => Record<string, string> }
    /** The fields of `multipart/form-data`. */
    | { multipart: (event: SampleEvent) => Record<string, string> }
    | { isEmpty: true };
}

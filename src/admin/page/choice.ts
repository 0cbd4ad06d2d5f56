import { useSignal } from "@preact/signals";

/** What a dialog is open for. */
export interface Choice<T> {
  /** Null while none is open. */
  value: T | null;
  /** Makes a handler that opens the dialog for `value`. */
  choose: (value: T) => () => void;
  close: () => void;
}

/** Remembers what a dialog is open for. */
export function useChoice<T = true>(): Choice<T> {
  const chosen = useSignal<T | null>(null);
  const set = (value: T | null) => () => {
    chosen.value = value;
  };
  return { value: chosen.value, choose: set, close: set(null) };
}

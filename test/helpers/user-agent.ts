/** A browser without script: it keeps cookies for each origin, and fills in forms. */
export function userAgent() {
  const jars = new Map<string, Map<string, string>>();

  async function request(url: string, init: RequestInit = {}): Promise<Response> {
    const { origin } = new URL(url);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { ...init, redirect: "manual", headers: { ...init.headers, cookie } });
    for (const text of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      if (value === "" || /max-age=0|expires=Thu, 01 Jan 1970/i.test(text)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  return {
    request,
    /**
     * Follows redirects, and sends the first form of each page with its values and these, until a page has none. An
     * address that begins with `end` is not asked.
     */
    async go(
      url: string,
      values: Record<string, string>,
      end?: string,
    ): Promise<{ url: string; status: number; text: string }> {
      let at = url;
      let response = await request(at);
      for (let step = 0; step < 20; step++) {
        const location = response.headers.get("location");
        if (location !== null) {
          at = new URL(location, at).href;
          if (end !== undefined && at.startsWith(end)) return { url: at, status: response.status, text: "" };
          response = await request(at);
          continue;
        }
        const text = await response.text();
        const action = /<form[^>]* action="([^"]+)"/.exec(text)?.[1];
        if (action === undefined || response.status >= 400) return { url: at, status: response.status, text };
        at = new URL(unescaped(action), at).href;
        response = await request(at, { method: "POST", body: fieldsOf(text, values) });
      }
      throw new Error(`more than 20 steps to ${at}`);
    },
  };
}

const ENTITIES: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

const unescaped = (text: string) => text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);

function fieldsOf(page: string, values: Record<string, string>): URLSearchParams {
  const form = page.slice(page.indexOf("<form"), page.indexOf("</form>"));
  const fields = new URLSearchParams();
  for (const [element] of form.matchAll(/<(?:input|button)[^>]*>/g)) {
    const name = / name="([^"]+)"/.exec(element)?.[1];
    if (name === undefined || fields.has(name) || / type="checkbox"/.test(element)) continue;
    fields.set(name, values[name] ?? unescaped(/ value="([^"]*)"/.exec(element)?.[1] ?? ""));
  }
  return fields;
}

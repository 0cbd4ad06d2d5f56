import type { Provider } from "../provider.ts";
import { loadProvider, PROVIDER_NAMES } from "../provider-files.ts";

// Each file here is one provider, named as in the configuration file. It is loaded when it is first asked for.
export { PROVIDER_NAMES };

/** The provider of a name; undefined if there is none. */
export function providerOf(name: string | null | undefined): Provider | undefined {
  return name != null && PROVIDER_NAMES.includes(name) ? loadProvider(name) : undefined;
}

/** All providers with their names, sorted by name. Loads each of them. */
export function allProviders(): [name: string, provider: Provider][] {
  return PROVIDER_NAMES.map((name) => [name, loadProvider(name)]);
}

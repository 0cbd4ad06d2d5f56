import type { Component } from "../../src/platform/licences.ts";

/** A CycloneDX 1.6 bill of materials. It has no serial number and no time, so that builds are reproducible. */
export function sbom(name: string, version: string, components: readonly Component[]): string {
  const bom = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: { type: "application", "bom-ref": `${name}@${version}`, name, version, licenses: licenses("MIT") },
    },
    components: components.map((component) => {
      const purl = `pkg:npm/${component.name.replace("@", "%40")}@${component.version}`;
      return {
        type: "library",
        "bom-ref": purl,
        name: component.name,
        version: component.version,
        hashes: hashes(component.integrity),
        licenses: licenses(component.license),
        purl,
      };
    }),
  };
  return `${JSON.stringify(bom, null, 2)}\n`;
}

function licenses(expression: string): object[] {
  return / (?:AND|OR|WITH) /.test(expression) ? [{ expression }] : [{ license: { id: expression } }];
}

function hashes(integrity: string): object[] {
  const [algorithm, value] = integrity.split("-");
  if (algorithm !== "sha512" || !value) return [];
  return [{ alg: "SHA-512", content: Buffer.from(value, "base64").toString("hex") }];
}

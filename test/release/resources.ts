import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PACKAGES } from "./packages.ts";

export interface Resource {
  apiVersion: string;
  kind: string;
}

const importPackage = (file: string) => import(pathToFileURL(join(PACKAGES, file)).href);

/** The resource in the types of a package, whose `validate` throws by the description that Kubernetes has of it. */
export async function modelOf(resource: Resource, types = "kubernetes-models"): Promise<{ validate(): void }> {
  const models = await importPackage(`${types}/${resource.apiVersion}/${resource.kind}.js`);
  return new models[resource.kind](resource);
}

/** The keys that Kubernetes does not know, by the properties that its client lists for each type. */
export async function unknownKeys(resource: Resource): Promise<string[]> {
  const client = await importPackage("@kubernetes/client-node/dist/index.js");
  const visit = (value: unknown, type: string, path: string): string[] => {
    const [, item] = /^Array<(.*)>$/.exec(type) ?? [];
    if (item) return (value as unknown[]).flatMap((one, index) => visit(one, item, `${path}[${index}]`));
    const properties = client[type]?.getAttributeTypeMap?.() as { baseName: string; type: string }[] | undefined;
    if (!properties) return [];
    return Object.entries(value as object).flatMap(([key, below]) => {
      const property = properties.find(({ baseName }) => baseName === key);
      return property ? visit(below, property.type, `${path}.${key}`) : [`${path}.${key}`];
    });
  };
  const version = resource.apiVersion.replace(/^.*\//, "");
  const type = `${version[0]?.toUpperCase()}${version.slice(1)}${resource.kind}`;
  assert.ok(client[type], `the client has no ${type}`);
  return visit(resource, type, resource.kind);
}

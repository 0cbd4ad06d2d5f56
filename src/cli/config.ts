import { readEnvironment } from "../config/env-file.ts";
import { configFileName, readConfigFile } from "../config/file/config-file.ts";
import { ConfigFileError } from "../config/file/errors.ts";
import { remedyAt, SERVICE_CONF } from "../config/service.ts";
import { OperatorError } from "../errors.ts";
import { counted, printData, printJson, say } from "./output.ts";

/** Checks the configuration file, or the given one. The exit code is 2 if it is wrong. */
export async function runConfigCheck(given: string | undefined, { json }: { json?: boolean }): Promise<void> {
  const environment = { ...readEnvironment(), ...(given !== undefined && { CONFIG_FILE: given }) };
  const file = configFileName(environment);
  try {
    const config = readConfigFile(environment);
    if (config === null) {
      const remedy = remedyAt({
        folder: "create it, or name a file in CONFIG_FILE",
        service: `name a file in CONFIG_FILE: ${SERVICE_CONF}`,
      });
      throw new OperatorError({ found: `There is no ${file} in this directory`, remedy });
    }
    const { sources, routes, warnings } = config;
    if (json) return printJson({ file, valid: true, errors: [], warnings });
    for (const warning of warnings) say(`warning: ${warning}`);
    const counts = [counted(sources.length, "source"), ...(routes ? [counted(routes.length, "route")] : [])];
    printData(`${file} is valid: ${counts.join(", ")}`);
  } catch (error) {
    if (!json || !(error instanceof ConfigFileError)) throw error;
    printJson({ file, valid: false, errors: error.fileFaults, warnings: [] });
    process.exitCode = 2;
  }
}

/** Prints the JSON Schema of the configuration file. */
export async function runConfigSchema(): Promise<void> {
  const { configJsonSchema } = await import("../config/file/json-schema.ts");
  printData(JSON.stringify(configJsonSchema(), null, 2));
}

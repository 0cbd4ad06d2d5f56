/** A text with parts replaced. Throws if it lacks one of them. */
export function changed(text: string, changes: readonly (readonly [string | RegExp, string])[]): string {
  return changes.reduce((before, [from, to]) => {
    const after = before.replaceAll(from, to);
    if (after === before) throw new Error(`there is no ${from}`);
    return after;
  }, text);
}

/** A configuration of nginx in a folder, around servers. Without workers, nothing is left of a killed nginx. */
export function nginxConfiguration(dir: string, servers: string): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${dir}/${name};`,
  );
  const main = `daemon off; master_process off; pid ${dir}/nginx.pid; error_log stderr; events {}`;
  return `${main}\nhttp {\naccess_log off;\n${temporary.join("\n")}\n${servers}\n}\n`;
}

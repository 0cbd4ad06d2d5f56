import type { Command } from "commander";
import { allNodes, type CommandNode, commandTree, EVENT_IDS } from "./command-tree.ts";
import { printData } from "./output.ts";
import { quoted } from "./shell-quote.ts";

const SHELLS = { bash, zsh, fish };

/** Prints the completion script of a shell. */
export function runCompletion(shell: keyof typeof SHELLS, program: Command): void {
  printData(completionScript(shell, program));
}

/** The completion script of a shell. */
export function completionScript(shell: keyof typeof SHELLS, program: Command): string {
  return SHELLS[shell](commandTree(program));
}

const key = (node: CommandNode) => node.path.join(" ");

/** The words that may come next, each with its description. */
const entriesOf = ({ children, args, options }: CommandNode): [word: string, text: string][] => [
  ...children.map(({ path, description }): [string, string] => [path.at(-1) as string, description]),
  ...args.flatMap((argument) => argument.argChoices ?? []).map((value): [string, string] => [value, ""]),
  ...options.map(({ long, description }): [string, string] => [long as string, description]),
  ["--help", "Show help"],
];

/** Options that take one of several values, each with its command. */
const choicesOf = (root: CommandNode) =>
  allNodes(root).flatMap((node) =>
    node.options.flatMap(({ long, argChoices }) => (argChoices ? [{ node, long, values: argChoices }] : [])),
  );

const takesEventIds = ({ args }: CommandNode) => args.some((argument) => /^ids?$/.test(argument.name()));

const takesFile = ({ args }: CommandNode) => args.some((argument) => argument.name() === "file");

function bash(root: CommandNode): string {
  const nodes = allNodes(root);
  return `# authserve completion for bash. Use: source <(authserve completion bash)
_authserve() {
  local word path='' words='' current="\${COMP_WORDS[COMP_CWORD]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && continue
    case "\${path:+$path }$word" in
${nodes
  .slice(1)
  .map((node) => `      '${key(node)}') path='${key(node)}' ;;`)
  .join("\n")}
    esac
  done
  case "$path/\${COMP_WORDS[COMP_CWORD-1]}" in
${choicesOf(root)
  .map(({ node, long, values }) => `    '${key(node)}/${long}') words='${values.join(" ")}' ;;`)
  .join("\n")}
${nodes
  .map((node) => {
    const words = `words='${entriesOf(node)
      .map(([word]) => word)
      .join(" ")}'`;
    if (takesFile(node)) return `    '${key(node)}/'*) [[ $current == -* ]] && ${words} ;;`;
    const ids = takesEventIds(node)
      ? `; [[ $current == -* ]] || words+=" $("\${COMP_WORDS[0]}" ${EVENT_IDS} 2>/dev/null)"`
      : "";
    return `    '${key(node)}/'*) ${words}${ids} ;;`;
  })
  .join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _authserve authserve`;
}

function zsh(root: CommandNode): string {
  const nodes = allNodes(root);
  return `#compdef authserve
# authserve completion for zsh. Use: source <(authserve completion zsh), or a file _authserve on the fpath.
_authserve() {
  local word found=''
  local -a known entries
  known=(${nodes
    .slice(1)
    .map((node) => quoted(key(node)))
    .join(" ")})
  for word in "\${(@)words[2,CURRENT-1]}"; do
    (( \${known[(Ie)\${found:+$found }$word]} )) && found="\${found:+$found }$word"
  done
  case "$found/\${words[CURRENT-1]}" in
${choicesOf(root)
  .map(({ node, long, values }) => `    '${key(node)}/${long}') entries=(${values.join(" ")}) ;;`)
  .join("\n")}
${nodes
  .map((node) => {
    const entries = `entries=(${entriesOf(node)
      .map(([word, text]) => quoted(text === "" ? word : `${word}:${text.replaceAll(":", "\\:")}`))
      .join(" ")})`;
    if (takesFile(node)) return `    '${key(node)}/'*) [[ $words[CURRENT] == -* ]] && ${entries} ;;`;
    const ids = takesEventIds(node)
      ? `; [[ $words[CURRENT] == -* ]] || entries+=(\${\${(f)"$($words[1] ${EVENT_IDS} 2>/dev/null)"}//:/\\:})`
      : "";
    return `    '${key(node)}/'*) ${entries}${ids} ;;`;
  })
  .join("\n")}
  esac
  _describe 'authserve' entries || _files
}
# At the first call of the function, zsh runs the file on the fpath as the function's body.
if [[ $funcstack[1] == _authserve ]]; then _authserve "$@"; else compdef _authserve authserve; fi`;
}

function fish(root: CommandNode): string {
  const lines = allNodes(root).flatMap((node) => {
    const seen = node.path.map((word) => `__fish_seen_subcommand_from ${word}`);
    const none =
      node.children.length > 0
        ? [`not __fish_seen_subcommand_from ${node.children.map(({ path }) => path.at(-1)).join(" ")}`]
        : [];
    const complete = `complete -c authserve -n ${quoted([...seen, ...none].join("; and ") || "true")}`;
    return [
      ...node.children.map((child) => `${complete} -a ${child.path.at(-1)} -d ${quoted(child.description)}`),
      ...node.args.flatMap(({ argChoices }) =>
        argChoices ? [`${complete} -f -a ${quoted(argChoices.join(" "))}`] : [],
      ),
      ...(takesFile(node) ? [`${complete} -F`] : []),
      ...(takesEventIds(node) ? [`${complete} -f -a '(authserve ${EVENT_IDS} 2>/dev/null)'`] : []),
      ...node.options.map(({ long, required, argChoices = [], description }) => {
        const value = required ? ` -x -a ${quoted(argChoices.join(" "))}` : "";
        return `${complete} -l ${long?.slice(2)}${value} -d ${quoted(description)}`;
      }),
    ];
  });
  return [
    "# authserve completion for fish. Use: authserve completion fish | source",
    "complete -c authserve -f",
    "complete -c authserve -l help -d 'Show help'",
    ...lines,
  ].join("\n");
}

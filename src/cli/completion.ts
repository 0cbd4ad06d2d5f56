import type { Command } from "commander";
import { OperatorError } from "../errors.ts";
import { allNodes, type CommandNode, commandTree } from "./command-tree.ts";
import { printData } from "./output.ts";
import { quoted } from "./shell-quote.ts";

const SHELLS: Record<string, (root: CommandNode) => string> = { bash, zsh, fish };

/** Prints the completion script of a shell. */
export function runCompletion(shell: string, program: Command): void {
  const write = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
  if (!write) throw new OperatorError(`There is completion for ${Object.keys(SHELLS).join(", ")}`);
  printData(write(commandTree(program)));
}

const key = (node: CommandNode) => node.path.join(" ");
const words = (node: CommandNode) => [
  ...node.children.map(({ path }) => path.at(-1) as string),
  ...node.options.map(({ long }) => long as string),
  "--help",
];

function bash(root: CommandNode): string {
  const cases = allNodes(root).map((node) => `    '${key(node)}') words='${words(node).join(" ")}' ;;`);
  return `# authserve completion for bash. Use: source <(authserve completion bash)
_authserve() {
  local word path='' words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] && continue
    case "\${path:+$path }$word" in
${allNodes(root)
  .slice(1)
  .map((node) => `      '${key(node)}') path='${key(node)}' ;;`)
  .join("\n")}
    esac
  done
  case "$path" in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _authserve authserve`;
}

function zsh(root: CommandNode): string {
  const cases = allNodes(root).map((node) => {
    const entries = [
      ...node.children.map((child) => [child.path.at(-1) as string, child.description]),
      ...node.options.map((option) => [option.long as string, option.description]),
    ];
    const described = entries.map(([word = "", text = ""]) => quoted(`${word}:${text.replaceAll(":", "\\:")}`));
    return `    '${key(node)}') entries=(${[...described, "'--help:display help'"].join(" ")}) ;;`;
  });
  return `#compdef authserve
# authserve completion for zsh. Use: source <(authserve completion zsh), or a file _authserve on the fpath.
_authserve() {
  local word found=''
  local -a known entries
  known=(${allNodes(root)
    .slice(1)
    .map((node) => quoted(key(node)))
    .join(" ")})
  for word in "\${(@)words[2,CURRENT-1]}"; do
    (( \${known[(Ie)\${found:+$found }$word]} )) && found="\${found:+$found }$word"
  done
  case "$found" in
${cases.join("\n")}
  esac
  _describe 'authserve' entries || _files
}
compdef _authserve authserve`;
}

function fish(root: CommandNode): string {
  const lines = allNodes(root).flatMap((node) => {
    const seen = node.path.map((word) => `__fish_seen_subcommand_from ${word}`);
    const none =
      node.children.length > 0
        ? [`not __fish_seen_subcommand_from ${node.children.map(({ path }) => path.at(-1)).join(" ")}`]
        : [];
    const when = quoted([...seen, ...none].join("; and ") || "true");
    return [
      ...node.children.map(
        (child) => `complete -c authserve -n ${when} -a ${child.path.at(-1)} -d ${quoted(child.description)}`,
      ),
      ...node.options.map(
        (option) => `complete -c authserve -n ${when} -l ${option.long?.slice(2)} -d ${quoted(option.description)}`,
      ),
    ];
  });
  return ["# authserve completion for fish. Use: authserve completion fish | source", ...lines].join("\n");
}

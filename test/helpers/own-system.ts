import { needs } from "./back-end.ts";
import { type CommandOptions, type Finished, runProgram } from "./command.ts";

/** A copy of the files that keeps no change, with a network of its own, in which every port is free. */
const ENTER = `mount -t tmpfs tmpfs /mnt
mkdir /mnt/changes /mnt/work /mnt/root
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/changes,workdir=/mnt/work /mnt/root
mount -t proc proc /mnt/root/proc
mount --rbind /dev /mnt/root/dev
ip link set lo up
exec chroot /mnt/root "$@"`;

const UNSHARE = ["--fork", "--pid", "--kill-child", "--mount", "--net", "sh", "-euc", ENTER, "sh"];

/** Runs a program in a system of its own, in which it may write every file and listen on every port. Needs root. */
export function inOwnSystem(program: string, args: readonly string[], options: CommandOptions): Promise<Finished> {
  return runProgram("unshare", [...UNSHARE, program, ...args], options);
}

const { code } = await inOwnSystem("test", ["-e", import.meta.filename], { dir: "/" });

export const needsOwnSystem = () =>
  needs(
    "a system of its own",
    () => code === 0,
    "it needs root, overlayfs over the checkout, and iproute2 (Debian: apt-get install iproute2)",
  );

import { readdirSync, readFileSync, type StatsFs } from "node:fs";
import { statfs } from "node:fs/promises";
import { describeError } from "../errors.ts";
import { type EncryptionStore, missingKeysText } from "../events/encryption.ts";
import { orUnknown } from "../lib/timeout.ts";
import { isOutOfDescriptors } from "../worker/handler.ts";

/** What does not stop the server yet, with what is wrong, or null. */
interface Risk {
  name: string;
  error: string | null;
}

/** Returns what looks for a limit of the system that is nearly reached, and for a lost key. */
export function watchRisks(dataDir: string, encryption: Pick<EncryptionStore, "missingKeys">): () => Promise<Risk[]> {
  const readDisk = orUnknown(() => statfs(dataDir));
  const readMissingKeys = orUnknown(() => encryption.missingKeys());
  return async () => {
    const [disk, keys] = await Promise.all([readDisk(), readMissingKeys()]);
    return [
      { name: "descriptors", error: faultOfDescriptors() },
      { name: "inodes", error: faultOfInodes(disk) },
      { name: "encryption", error: keys === null || keys.length === 0 ? null : missingKeysText(keys) },
    ];
  };
}

const FEW_DESCRIPTORS_SHARE = 0.1;

/** Null also where the system does not tell. */
function faultOfDescriptors(): string | null {
  try {
    const limit = Number(/^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? Infinity);
    const open = readdirSync("/proc/self/fd").length;
    if (open < limit * (1 - FEW_DESCRIPTORS_SHARE)) return null;
    return `${open} of ${limit} descriptors are open: raise LimitNOFILE of the service, or find who keeps connections`;
  } catch (error) {
    // At the limit, these files cannot be opened either.
    return isOutOfDescriptors(error) ? `no descriptor is free: ${describeError(error)}` : null;
  }
}

const FEW_INODES = 1000;
const FEW_INODES_SHARE = 0.01;

/** Null also for a disk without such a limit. */
export function faultOfInodes(disk: Pick<StatsFs, "files" | "ffree"> | null): string | null {
  if (disk === null || disk.files === 0) return null;
  if (disk.ffree >= Math.min(FEW_INODES, disk.files * FEW_INODES_SHARE)) return null;
  return `only ${disk.ffree} more files can be made on the disk of DATA_DIR: remove small files there`;
}

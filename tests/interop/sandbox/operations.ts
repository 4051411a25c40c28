/** What a program tries in a sandbox, one thing after the other, and what is known of the paths that it tries it on. */
import fc from "fast-check";
import type { BytePath } from "../fs/posix.ts";
import { TREE } from "../fs/tree.ts";

/** A verb of `operate.pl` and its operands; paths begin with {@linkcode TREE}. */
export type Operation = readonly [verb: string, ...operands: string[]];

const SINGLE = ["stat", "read", "list", "append", "create", "overwrite", "mkdir", "rmdir", "unlink", "chmod", "utime"];
const AF_UNIX = "1", AF_INET = "2", AF_NETLINK = "16", AF_VSOCK = "40", SOCK_STREAM = "1", SOCK_RAW = "3";
const ALONE: readonly Operation[] = [
  ["identity"],
  ["place"],
  ["devices"],
  ["privileges"],
  ["environment"],
  ["socket", AF_UNIX, SOCK_STREAM],
  ["socket", AF_INET, SOCK_STREAM],
  ["socket", AF_NETLINK, SOCK_RAW],
  ["socket", AF_VSOCK, SOCK_STREAM],
];

/** @param paths Relative to the tree. */
export function operationsOn(paths: fc.Arbitrary<BytePath>): fc.Arbitrary<readonly Operation[]> {
  const path = paths.map((path) => path === "" ? TREE : `${TREE}/${path}`);
  const operation: fc.Arbitrary<Operation> = fc.oneof(
    {
      weight: 20,
      arbitrary: fc.tuple(fc.constantFrom(...SINGLE, "truncate", "enter"), path),
    },
    { weight: 4, arbitrary: fc.tuple(fc.constantFrom("rename", "link"), path, path) },
    { weight: 1, arbitrary: fc.tuple(fc.constant("symlink"), path, path) },
    { weight: 3, arbitrary: fc.constantFrom(...ALONE) },
  );
  return fc.array(operation, { minLength: 5, maxLength: 30, size: "max" });
}

/** Paths that an operation names. */
export function pathsIn([, ...operands]: Operation): readonly string[] {
  return operands.filter((operand) => operand.startsWith(TREE));
}

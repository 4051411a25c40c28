/** What a launcher is told to do, and how it is handed over: in a sealed file in memory, which nobody can change. */

import type { Mount } from "../mount_plan.ts";
import type { BytePath } from "../policy.ts";

/** Everything about one launch; all strings are bytes, one code unit each, as in a {@linkcode BytePath}. */
export interface LaunchPlan {
  readonly confinement: Confinement;
  /** Seccomp filters, whole `struct sock_filter`s, installed in this order. */
  readonly filters: readonly string[];
  readonly program: ProgramPlan;
}

export type Confinement =
  /** Own mounts; the launcher has to be in namespaces of its own already. */
  | { readonly kind: "mounts"; readonly mounts: readonly Mount[] }
  | { readonly kind: "landlock"; readonly rules: readonly LandlockRule[]; readonly network: boolean }
  /** The filters alone. */
  | { readonly kind: "filters" };

/** A file or a directory with all below it. Nothing else may be read or written. */
export interface LandlockRule {
  readonly path: BytePath;
  readonly access: "read" | "write" | "device";
}

export interface ProgramPlan {
  /** A path, or a name that is looked for on the PATH of `env`. */
  readonly file: string;
  readonly argv: readonly string[];
  /** `NAME=value`; exactly these. */
  readonly env: readonly string[];
  /** Where the program starts; in `/` if that cannot be entered. */
  readonly cwd: BytePath;
}

const TITLE = "exec-server launch plan 1";
/** A plan with a hundred thousand mounts is half as long. */
export const MAX_PLAN_BYTES = 64 * 1024 * 1024;

/** A title with the number of bytes that follow, and the plan as JSON. */
export function encodePlan(plan: LaunchPlan): Uint8Array<ArrayBuffer> {
  const body = JSON.stringify(plan);
  const encoder = new TextEncoder();
  const bytes = encoder.encode(body);
  const title = encoder.encode(`${TITLE} ${bytes.length}\n`);
  const result = new Uint8Array(new ArrayBuffer(title.length + bytes.length));
  result.set(title);
  result.set(bytes, title.length);
  return result;
}

/** @throws {Error} If it is not, in every detail, what {@linkcode encodePlan} writes. */
export function decodePlan(bytes: Uint8Array): LaunchPlan {
  const end = bytes.subarray(0, 64).indexOf(0x0a);
  const title = new TextDecoder().decode(bytes.subarray(0, Math.max(end, 0)));
  const body = bytes.subarray(end + 1);
  if (title !== `${TITLE} ${body.length}`) throw new Error("the launch plan is damaged: its title is wrong");
  const { confinement, filters, program, ...rest } = record(parse(body), "the plan");
  nothingElse(rest, "the plan");
  return {
    confinement: confinementOf(confinement),
    filters: list(filters, "filters", (filter) => {
      const text = byteString(filter, "a filter");
      return text.length > 0 && text.length % 8 === 0 ? text : refuse("a filter is no whole number of instructions");
    }),
    program: programOf(program),
  };
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body));
  } catch {
    // The parser's message would repeat a part of the plan, which holds what others may not see.
    return refuse("it is no JSON");
  }
}

function confinementOf(value: unknown): Confinement {
  const { kind, ...more } = record(value, "confinement");
  switch (kind) {
    case "mounts": {
      const { mounts, ...rest } = more;
      nothingElse(rest, "confinement");
      const steps = list(mounts, "mounts", mountOf);
      const [first] = steps;
      return first?.path === "/" && ROOTS.includes(first.kind)
        ? { kind, mounts: steps }
        : refuse("no mount is for the root");
    }
    case "landlock": {
      const { rules, network, ...rest } = more;
      nothingElse(rest, "confinement");
      if (typeof network !== "boolean") return refuse("network is no boolean");
      return { kind, network, rules: list(rules, "rules", ruleOf) };
    }
    case "filters":
      nothingElse(more, "confinement");
      return { kind };
    default:
      return refuse("the kind of confinement is unknown");
  }
}

const ROOTS: readonly Mount["kind"][] = ["emptyRoot", "bind", "readOnlyBind"];

function mountOf(value: unknown): Mount {
  const { kind, path: place, ...more } = record(value, "a mount");
  const path = pathOf(place, "a mount's path");
  switch (kind) {
    case "bind":
    case "readOnlyBind":
    case "deviceBind":
    case "freeze":
      nothingElse(more, "a mount");
      return { kind, path };
    case "emptyRoot":
      nothingElse(more, "a mount");
      return path === "/" ? { kind, path } : refuse("the empty root is not at the root");
    case "devices":
      nothingElse(more, "a mount");
      return path === "/dev" ? { kind, path } : refuse("the devices are not at /dev");
    case "processes":
      nothingElse(more, "a mount");
      return path === "/proc" ? { kind, path } : refuse("the processes are not at /proc");
    case "link": {
      const { target, ...rest } = more;
      nothingElse(rest, "a mount");
      return { kind, path, target: cString(target, "a link's target") };
    }
    case "emptyDirectory":
    case "emptyFile": {
      const { mode, isMissing, ...rest } = more;
      nothingElse(rest, "a mount");
      if (typeof mode !== "number" || !Number.isInteger(mode) || mode < 0 || mode > 0o777) {
        return refuse("a mode is wrong");
      }
      return typeof isMissing === "boolean" ? { kind, path, mode, isMissing } : refuse("isMissing is no boolean");
    }
    default:
      return refuse("the kind of a mount is unknown");
  }
}

function ruleOf(value: unknown): LandlockRule {
  const { path, access, ...rest } = record(value, "a rule");
  nothingElse(rest, "a rule");
  if (access !== "read" && access !== "write" && access !== "device") return refuse("a rule's access is unknown");
  return { path: pathOf(path, "a rule's path"), access };
}

function programOf(value: unknown): ProgramPlan {
  const { file, argv, env, cwd, ...rest } = record(value, "program");
  nothingElse(rest, "program");
  const name = cString(file, "the program's file");
  const args = list(argv, "argv", (one) => cString(one, "an argument"));
  if (args.length === 0) return refuse("there is no program");
  return {
    file: name,
    argv: args,
    env: list(env, "env", (one) => cString(one, "a variable")),
    cwd: pathOf(cwd, "the program's directory"),
  };
}

function record(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return refuse(`${what} is no object`);
  return value as Record<string, unknown>;
}

function nothingElse(rest: Record<string, unknown>, what: string): void {
  if (Object.keys(rest).length > 0) refuse(`${what} has a member too many`);
}

function list<T>(value: unknown, what: string, of: (item: unknown) => T): T[] {
  return Array.isArray(value) ? value.map(of) : refuse(`${what} is no list`);
}

function byteString(value: unknown, what: string): string {
  // deno-lint-ignore no-control-regex
  return typeof value === "string" && /^[\x00-\xff]*$/.test(value) ? value : refuse(`${what} is no string of bytes`);
}

function cString(value: unknown, what: string): string {
  const text = byteString(value, what);
  return text.includes("\0") ? refuse(`${what} has a NUL inside`) : text;
}

/** Absolute and normal: no name in it leads back. */
function pathOf(value: unknown, what: string): BytePath {
  const path = cString(value, what);
  const names = path.slice(1).split("/");
  const isNormal = path.startsWith("/") && (path === "/" || !names.some((name) => ["", ".", ".."].includes(name)));
  return isNormal ? path : refuse(`${what} is not absolute and normal`);
}

function refuse(what: string): never {
  throw new Error(`the launch plan is damaged: ${what}`);
}

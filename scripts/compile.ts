/**
 * Makes executables that need nothing but their system, and tries the one for this system.
 *
 *     deno task compile                        for this system
 *     deno task compile --target TARGET        for another (repeatable)
 *     deno task compile --all                  for every one
 *     deno task compile --no-check             without the type check, when that has been done
 *
 * What is made is `dist/exec-server-…`, one for each target; the one for this system also as `dist/exec-server`;
 * `dist/THIRD_PARTY_NOTICES.txt`, the same for all targets; and `dist/SHA256SUMS` of what this run has made. What was
 * there before is replaced when all of it is done, or not at all.
 *
 * Deno fetches the run-time base of its own version. Where it cannot, `DENORT_BIN` names one, a denort for the target,
 * of which there can then be one only. If that is of another version, `DENO_BIN` names a deno of that version.
 */
import config from "../deno.json" with { type: "json" };
import { type Embedder, embedder } from "./compile/base.ts";
import { bundleProgram } from "./compile/bundle.ts";
import { embed, type Program } from "./compile/embed.ts";
import { noticesOf, packageBeside, packagesOf } from "./compile/notices.ts";
import { TERMINAL_PACKAGE } from "./compile/packages.ts";
import { CompileError, runStep } from "./compile/step.ts";
import { tryOut } from "./compile/try_out.ts";

/** What the file for a target is called, behind `exec-server-`. */
const FILES: Readonly<Record<string, string>> = {
  "x86_64-unknown-linux-gnu": "x86_64-linux-gnu",
  "aarch64-unknown-linux-gnu": "aarch64-linux-gnu",
  "x86_64-apple-darwin": "x86_64-apple-darwin",
  "aarch64-apple-darwin": "aarch64-apple-darwin",
  "x86_64-pc-windows-msvc": "x86_64-windows-msvc.exe",
  "aarch64-pc-windows-msvc": "aarch64-windows-msvc.exe",
};
const NOTICES_FILE = "THIRD_PARTY_NOTICES.txt";
const OUR_FILE = Deno.build.os === "windows" ? "exec-server.exe" : "exec-server";

/** Where everything is made, and of which nothing is left. What is embedded does not tell where the project is. */
const PLACE = "dist/compile";

interface Wanted {
  readonly targets: readonly string[];
  readonly isChecked: boolean;
}

/** @throws {CompileError} That names what is wrong with the arguments. */
function parse(args: readonly string[]): Wanted {
  const targets = new Set<string>();
  let isChecked = true;
  const rest = args.filter((arg) => arg !== "--");
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === "--all") Object.keys(FILES).forEach((target) => targets.add(target));
    else if (arg === "--no-check") isChecked = false;
    else if (arg === "--target") targets.add(rest.shift() ?? "");
    else throw new CompileError(`unexpected argument '${arg}'`);
  }
  if (targets.size === 0) targets.add(Deno.build.target);
  for (const target of targets) {
    if (target in FILES) continue;
    throw new CompileError(`'${target}' is none of the targets: ${Object.keys(FILES).join(", ")}`);
  }
  if (targets.size > 1 && Deno.env.get("DENORT_BIN")) {
    throw new CompileError("DENORT_BIN is the base for one target only");
  }
  return { targets: [...targets], isChecked };
}

async function build({ targets, isChecked }: Wanted, means: Embedder, signal: AbortSignal): Promise<void> {
  const made = `${PLACE}/made`;
  await Deno.mkdir(made, { recursive: true });
  if (isChecked) await runStep(Deno.execPath(), ["check", "--frozen", "--quiet", "main.ts"], signal);
  const program = await bundleProgram(PLACE, signal);
  const notices = await noticesFor(program, means);
  const [lines, sums]: [string[], string[]] = [[], []];
  for (const target of targets) {
    const name = `exec-server-${FILES[target]}`;
    console.error(`compile: ${name}; its run-time base is fetched if it has not been before`);
    await embed(program, PLACE, means, target, `${made}/${name}`, signal);
    const bytes = await Deno.readFile(`${made}/${name}`);
    sums.push(`${await sha256(bytes)}  ${name}\n`);
    lines.push(`dist/${name}: exec-server ${config.version}, ${(bytes.length / 1e6).toFixed(1)} MB`);
    if (target !== Deno.build.target) continue;
    await tryOut(await Deno.realPath(`${made}/${name}`), `exec-server ${config.version}`);
    await Deno.copyFile(`${made}/${name}`, `${made}/${OUR_FILE}`);
  }
  await Deno.writeTextFile(`${made}/${NOTICES_FILE}`, notices);
  sums.push(`${await sha256(new TextEncoder().encode(notices))}  ${NOTICES_FILE}\n`);
  await Deno.writeTextFile(`${made}/SHA256SUMS`, sums.join(""));
  signal.throwIfAborted();
  for (const { name } of [...Deno.readDirSync(made)]) Deno.renameSync(`${made}/${name}`, `dist/${name}`);
  console.log(lines.join("\n"));
}

/** @throws {CompileError} There is something in it that may not be passed on like this. */
async function noticesFor({ sources }: Program, { version }: Embedder): Promise<string> {
  const bundled = await packagesOf(sources);
  const terminalVersion = config.imports[TERMINAL_PACKAGE].split("@").at(-1)!;
  return noticesOf([...bundled, await packageBeside(bundled[0]!, TERMINAL_PACKAGE, terminalVersion)], version);
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** @throws {CompileError} */
async function prepare(): Promise<void> {
  try {
    await Deno.mkdir("dist", { recursive: true });
    // Held until this process ends. On Windows directories cannot be locked.
    const isAlone = Deno.build.os === "windows" || await (await Deno.open("dist")).tryLock(true);
    if (!isAlone) throw new CompileError("another run is at work in dist");
    await removePlace(); // of a run that was killed
    await Deno.mkdir(PLACE, { recursive: true });
  } catch (error) {
    if (error instanceof CompileError) throw error;
    throw new CompileError(`dist cannot be written: ${error instanceof Error ? error.message : error}`);
  }
}

async function removePlace(): Promise<void> {
  await Deno.remove(PLACE, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}

async function main(args: readonly string[], interruption: AbortSignal): Promise<void> {
  const wanted = parse(args);
  Deno.chdir(`${import.meta.dirname}/..`);
  const means = await embedder(wanted.targets, interruption);
  await prepare();
  try {
    await build(wanted, means, interruption);
  } finally {
    await removePlace();
  }
}

const interruption = new AbortController();
const signals: readonly (readonly [Deno.Signal, number])[] = [
  ["SIGINT", 130],
  ...(Deno.build.os === "windows" ? [] : [["SIGTERM", 143] as const]),
];
let code = 1;
for (const [signal, itsCode] of signals) {
  Deno.addSignalListener(signal, () => {
    code = itsCode;
    interruption.abort(new CompileError("interrupted"));
  });
}
try {
  await main(Deno.args, interruption.signal);
  code = 0;
} catch (error) {
  const reason = interruption.signal.aborted ? interruption.signal.reason : error;
  if (!(reason instanceof CompileError)) throw reason;
  console.error(`compile: ${reason.message}`);
}
Deno.exit(code);

/**
 * Makes executables that need nothing but their system, and tries the one for this system.
 *
 *     deno task compile                        for this system
 *     deno task compile --target TARGET        for another (repeatable)
 *     deno task compile --all                  for every one
 *     deno task compile --no-check             without the type check, when that has been done
 *
 * What is made is `dist/exec-server-…`, one for each target; the one for this system also as `dist/exec-server`; and
 * `dist/SHA256SUMS` of them all. `DENORT_BIN` names the run-time base if it cannot be downloaded: a denort of the same
 * version as this deno and for the target, of which there can then be one only.
 */
import config from "../deno.json" with { type: "json" };
import { runtimeImports } from "./compile/runtime_imports.ts";

const PROJECT = new URL("../", import.meta.url).pathname;

/** What the file for a target is called, behind `dist/exec-server-`. */
const FILES: Readonly<Record<string, string>> = {
  "x86_64-unknown-linux-gnu": "x86_64-linux-gnu",
  "aarch64-unknown-linux-gnu": "aarch64-linux-gnu",
  "x86_64-apple-darwin": "x86_64-apple-darwin",
  "aarch64-apple-darwin": "aarch64-apple-darwin",
  "x86_64-pc-windows-msvc": "x86_64-windows-msvc.exe",
  "aarch64-pc-windows-msvc": "aarch64-windows-msvc.exe",
};
const OUR_FILE = Deno.build.os === "windows" ? "dist/exec-server.exe" : "dist/exec-server";

const { targets, isChecked } = parseArguments(Deno.args);
Deno.chdir(PROJECT);
await Deno.mkdir("dist", { recursive: true });
// The lock file holds for the whole project: nothing may be missing in it, and nothing is looked up anew below.
if (isChecked && !await succeeds(["check", "--frozen", "main.ts"])) fail("the types do not fit, or the lock file");

const sums: string[] = [];
for (const target of targets) {
  const path = `dist/exec-server-${FILES[target]}`;
  await compile(target, path);
  if (target === Deno.build.target) {
    await tryOut(path);
    await Deno.copyFile(path, OUR_FILE);
  }
  const bytes = await Deno.readFile(path);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  sums.push(`${Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("")}  ${path.slice(5)}\n`);
  console.log(`${path}: exec-server ${config.version}, ${(bytes.length / 1e6).toFixed(1)} MB`);
}
await Deno.writeTextFile("dist/SHA256SUMS", sums.join(""));

function parseArguments(args: readonly string[]): { targets: readonly string[]; isChecked: boolean } {
  const targets = new Set<string>();
  let isChecked = true;
  const rest = args.filter((arg) => arg !== "--");
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === "--all") Object.keys(FILES).forEach((target) => targets.add(target));
    else if (arg === "--no-check") isChecked = false;
    else if (arg === "--target") targets.add(rest.shift() ?? fail("--target needs a value"));
    else fail(`unexpected argument '${arg}'`);
  }
  if (targets.size === 0) targets.add(Deno.build.target);
  for (const target of targets) {
    if (!(target in FILES)) fail(`'${target}' is none of the targets: ${Object.keys(FILES).join(", ")}`);
  }
  if (targets.size > 1 && Deno.env.has("DENORT_BIN")) fail("DENORT_BIN is the base for one target only");
  return { targets: [...targets], isChecked };
}

async function compile(target: string, output: string): Promise<void> {
  const place = "dist/compile";
  await Deno.mkdir(place, { recursive: true });
  try {
    // All packages that the configuration names are embedded, so it names those of the program only. It stands in the
    // project, and under a fixed name: what is embedded is named from the folder down that holds all of it.
    const imports = await runtimeImports(config.imports, ["main.ts", "lib"]);
    const { unstable, compilerOptions, nodeModulesDir } = config;
    const own = { imports, unstable, compilerOptions, nodeModulesDir };
    await Deno.writeTextFile(`${place}/deno.json`, JSON.stringify(own));
    await Deno.copyFile("deno.lock", `${place}/deno.lock`);
    const isCompiled = await succeeds([
      ...["compile", "--allow-all", "--target", target, "--config", `${place}/deno.json`],
      // Types are checked above. What the runtime compiles would be kept in /tmp, under a name that everybody can take
      // first: whoever does, from within a sandbox even, would have us run what he likes.
      ...["--no-check", "--no-code-cache"],
      // Runtimes before Deno 2.5 have the base64 of arrays behind a flag.
      ...("fromBase64" in Uint8Array ? [] : ["--v8-flags=--js-base-64"]),
      // What is imported when it is needed has to be named: it is not followed.
      ...["--include", "lib", "--output", output, "main.ts"],
    ]);
    if (!isCompiled) {
      fail(
        `no executable for ${target}; why, is said above. The first one needs the run-time base of Deno ${Deno.version.deno} from ` +
          "dl.deno.land; where that cannot be reached, set DENORT_BIN to a denort executable of this version.",
      );
    }
    await holdToLock(await Deno.readTextFile(`${place}/deno.lock`));
  } finally {
    await Deno.remove(place, { recursive: true });
  }
}

/** Fails if anything else was taken than what the lock file of the project names. */
async function holdToLock(used: string): Promise<void> {
  const { npm: locked } = JSON.parse(await Deno.readTextFile("deno.lock"));
  for (const [name, { integrity }] of Object.entries<{ integrity: string }>(JSON.parse(used).npm)) {
    if (locked[name]?.integrity !== integrity) fail(`${name} is not what deno.lock names`);
  }
}

/** Fails unless the executable says the version and serves, in an environment and a folder that hold nothing. */
async function tryOut(path: string): Promise<void> {
  const program = await Deno.realPath(path);
  const version = await tell(program, ["--version"], "");
  if (version !== `exec-server ${config.version}`) fail(`${path} says that it is ${version}`);
  const request = '{"id":1,"method":"initialize","params":{"clientName":"compile"}}\n';
  const answer = await tell(program, ["--listen", "stdio"], request);
  if (!answer.startsWith('{"id":1,"result":')) fail(`${path} does not serve: it answered ${JSON.stringify(answer)}`);
}

/** What the executable writes for an input. */
async function tell(program: string, args: string[], input: string): Promise<string> {
  const cwd = await Deno.makeTempDir({ prefix: "exec-server-compile-" });
  try {
    const isBare = Deno.build.os !== "windows";
    const child = new Deno.Command(program, { args, cwd, clearEnv: isBare, stdin: "piped", stdout: "piped" }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(input));
    await writer.close();
    const { code, stdout } = await child.output();
    if (code !== 0) fail(`${program} ${args.join(" ")} ended with exit code ${code}`);
    return new TextDecoder().decode(stdout).trim();
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}

async function succeeds(args: string[]): Promise<boolean> {
  const { success } = await new Deno.Command(Deno.execPath(), { args, stdout: "inherit", stderr: "inherit" }).output();
  return success;
}

function fail(reason: string): never {
  console.error(`compile: ${reason}`);
  Deno.exit(1);
}

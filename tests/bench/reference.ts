/** Where the reference is, or comes from: the public npm package, of the release whose wire we speak or of another. */
import { WIRE_VERSION } from "../../lib/version.ts";
import type { ServerCommand } from "../program/running_server.ts";

/**
 * The command of the reference, fetched on first use into the user's cache (about 320 MB for each version).
 *
 * @param version As {@link isVersion} allows it: it names a directory.
 * @throws {Error} With the reason, where it cannot be had.
 */
export async function referenceCommand(version = WIRE_VERSION): Promise<ServerCommand> {
  const directory = `${cacheDirectory()}/${version}`;
  const binary = await findBinary(directory) ?? await fetchBinary(directory, version);
  return [binary, "exec-server"];
}

/** Whether `text` is one exact version, such as `0.171.0` or `0.171.0-alpha.1`; tags and ranges mean others later. */
export function isVersion(text: string): boolean {
  return /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(text);
}

/** The same if it has been fetched before; null: it has not. For tests, which fetch nothing. */
export async function installedReference(): Promise<ServerCommand | null> {
  const binary = await findBinary(`${cacheDirectory()}/${WIRE_VERSION}`);
  return binary === null ? null : [binary, "exec-server"];
}

function cacheDirectory(): string {
  const cache = Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME") ?? "/tmp"}/.cache`;
  return Deno.env.get("EXEC_SERVER_PEER_DIR") ?? `${cache}/exec-server-peer`;
}

async function fetchBinary(directory: string, version: string): Promise<string> {
  const name = `@openai/codex@${version}`;
  console.error(`fetching the reference, npm package ${name}, into ${directory} …`);
  await Deno.mkdir(directory, { recursive: true });
  await Deno.writeTextFile(`${directory}/package.json`, '{"name":"peer","private":true}\n');
  const args = ["install", "--no-audit", "--no-fund", "--silent", name];
  const { success, code } = await new Deno.Command("npm", { args, cwd: directory, stdout: "inherit" }).spawn().status;
  if (!success) throw new Error(`npm install ${name} failed with exit code ${code}`);
  const binary = await findBinary(directory);
  if (binary === null) throw new Error(`${name} brought no binary for this platform`);
  return binary;
}

/** `node_modules/@openai/PACKAGE/vendor/TARGET/bin/codex`, if there is one. */
async function findBinary(directory: string): Promise<string | null> {
  const scope = `${directory}/node_modules/@openai`;
  for (const name of await names(scope)) {
    for (const target of await names(`${scope}/${name}/vendor`)) {
      const path = `${scope}/${name}/vendor/${target}/bin/codex`;
      if ((await names(`${scope}/${name}/vendor/${target}/bin`)).includes("codex")) return path;
    }
  }
  return null;
}

async function names(directory: string): Promise<string[]> {
  try {
    return (await Array.fromAsync(Deno.readDir(directory))).map(({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return [];
    throw error;
  }
}

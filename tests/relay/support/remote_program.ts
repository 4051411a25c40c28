/**
 * An executor or a forwarder as a child of a test, ours or the reference: with directories of its own, no variable of
 * the user's but PATH, and no way to a real credential or out of this machine.
 */
import { installedReference } from "../../bench/reference.ts";
import { OUR_COMMAND } from "../../program/running_server.ts";
import { searchPath } from "../../wire/workspace.ts";
import { Program } from "../../wire/program.ts";

const PROJECT = new URL("../../../", import.meta.url).pathname;

/** What our program is called with, from any directory. */
export const OUR_PROGRAM: readonly string[] = OUR_COMMAND.map((word) =>
  word === "main.ts" ? `${PROJECT}main.ts` : word
);

/** The reference's program and first argument, if it is there; it is the one for executors. */
export const REFERENCE_PROGRAM: readonly string[] | null = await installedReference();

export interface RemoteOptions {
  /** A program and its arguments before `--remote`; for `forward` with that word. */
  readonly words: readonly string[];
  readonly registryUrl: string;
  readonly environmentId: string;
  /** Further arguments. */
  readonly args?: readonly string[];
  /** Further variables; the API key is there already. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts it; it ends, and its directories with it, when the scope is left. */
export async function startRemote(
  resources: AsyncDisposableStack,
  { words, registryUrl, environmentId, args = [], env = {} }: RemoteOptions,
): Promise<Program> {
  const home = await Deno.makeTempDir({ prefix: "exec-server-remote-" });
  resources.defer(() => Deno.remove(home, { recursive: true }));
  await Deno.mkdir(`${home}/tmp`);
  const remote = ["--remote", registryUrl, "--environment-id", environmentId];
  return resources.use(
    new Program({
      words: [...words, ...remote, ...args],
      cwd: home,
      env: { ...isolated(home), CODEX_API_KEY: API_KEY, ...env },
      stdin: "null",
    }),
  );
}

/** The key that our executors show. */
export const API_KEY = "test-api-key-1b7e";

/** Variables with which a program finds nothing that belongs to anybody. */
export function isolated(home: string): Record<string, string> {
  return {
    PATH: searchPath(),
    HOME: home,
    CODEX_HOME: home,
    TMPDIR: `${home}/tmp`,
    DENO_DIR: DENO_DIRECTORY,
    DENO_NO_UPDATE_CHECK: "1",
    NO_COLOR: "1",
    HTTPS_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "127.0.0.1,localhost",
    AWS_EC2_METADATA_DISABLED: "true",
    CODEX_REFRESH_TOKEN_URL_OVERRIDE: "http://127.0.0.1:9/nowhere",
  };
}

const DENO_DIRECTORY = await denoDirectory();

async function denoDirectory(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"], stderr: "null" }).output();
  return (JSON.parse(new TextDecoder().decode(stdout)) as { denoDir: string }).denoDir;
}

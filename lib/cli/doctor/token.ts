import type { Cli } from "../command.ts";
import { REGISTRY_VARIABLES, type ServerTarget, TOKEN_VARIABLE } from "../connection_options.ts";
import { failed, type Finding, note, ok } from "./check.ts";

/** Bits by which others could read a file. */
const READABLE_BY_OTHERS = 0o044;

/** Whether there is a token to show, and whether others can see it. The token itself is never said. */
export async function lookAtToken(target: ServerTarget, cli: Pick<Cli, "env">): Promise<Finding> {
  if (target.kind === "embedded") return ok("none needed");
  if (target.kind === "environment") {
    const isRegistered = cli.env(REGISTRY_VARIABLES.url)?.trim();
    return ok(isRegistered ? `from the variable ${REGISTRY_VARIABLES.token}` : "none needed, or in environments.toml");
  }
  if (target.tokenFile === undefined) {
    return cli.env(TOKEN_VARIABLE)?.trim()
      ? ok(`from the variable ${TOKEN_VARIABLE}`)
      : note("none is given, which is right for a server without --ws-auth");
  }
  const { tokenFile } = target;
  try {
    const [text, { mode }] = await Promise.all([Deno.readTextFile(tokenFile), Deno.stat(tokenFile)]);
    if (text.trim() === "") return failed(`${tokenFile} is empty`, "put the token into it");
    if (mode !== null && (mode & READABLE_BY_OTHERS) !== 0) {
      return note(`${tokenFile} can be read by other users of this machine`, `chmod go= '${tokenFile}'`);
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return failed(`the token cannot be read: ${error.message}`, "name another file by --token-file <PATH>");
  }
  return ok(`from ${tokenFile}`);
}

/** What a recording needs that is not there for everyone. */
import { whyNotLaunched } from "./launch.ts";
import type { Setup, Transcript } from "./lines.ts";
import type { Target } from "./target.ts";

/** Recordings that show what root may do, each with what that is. */
const AS_ROOT: Readonly<Record<string, string>> = {
  "fs-copy-file": "only root may write to a file of mode 444",
  "fs-sandbox-unavailable":
    "whoever has used up his user namespaces is root in the last one, and would have another shell",
  "fs-remove-errors": "only for root is it the file in /proc, not its directory, that refuses to be removed",
};

/** Why a recording cannot be played against that target by this user, or null if it can. */
export function whyNotPlayed(transcript: Transcript, target: Target): string | null {
  const missing = missingForSandboxes(transcript);
  if (missing !== null) return missing;
  if (target.kind === "url") return needsOwnServer(transcript);
  const { meta, lines } = transcript;
  if (Deno.uid() !== 0) {
    const reason = AS_ROOT[meta.scenario];
    if (reason !== undefined) return reason;
    if (lines.some((line) => line.dir === "setup" && needsRoot(line.msg))) return "only root can prepare its files";
  }
  return whyNotLaunched(target.words, meta.launch);
}

/** What a recording with programs or files in sandboxes needs, and this machine lacks. */
function missingForSandboxes({ lines }: Transcript): string | null {
  const confined = lines.filter((line) => line.dir === "send").map(({ msg }) => JSON.stringify(msg) ?? "")
    .filter((text) => text.includes('"managed"'));
  if (confined.length === 0) return null;
  if (confined.some((text) => text.includes("/usr/bin/python3")) && !runs("/usr/bin/python3", "-c", "")) {
    return "its program needs /usr/bin/python3";
  }
  const view = ["--user", "--map-current-user", "--mount", "--pid", "--fork", "--net", "true"];
  return runs("unshare", ...view) ? null : "no sandbox can be made without user namespaces";
}

function runs(program: string, ...args: readonly string[]): boolean {
  try {
    return new Deno.Command(program, { args: [...args], stdout: "null", stderr: "null" }).outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/**
 * The variables of a server's environment that a recording shows: in a program's, or by what is read in its home (by the
 * login shells of Codex as well).
 */
export function variablesShown(transcript: Transcript): string[] {
  if (transcript.meta.scenario === "start-env-policy") return ["PROBE_MARK"];
  return showsHome(transcript) || transcript.meta.scenario.startsWith("codex-client-") ? ["HOME", "CODEX_HOME"] : [];
}

function showsHome({ lines }: Transcript): boolean {
  return lines.some((line) => line.dir === "recv" && JSON.stringify(line.msg)?.includes("codexHomeDir"));
}

function needsRoot(setup: Setup): boolean {
  return setup.op === "chardev" || setup.op === "chown";
}

/** Why a recording cannot be played against a server that runs already, or null if it can. */
function needsOwnServer(transcript: Transcript): string | null {
  const { meta, lines } = transcript;
  if (meta.transport === "cli" || meta.transport === "stdio") {
    return `transport ${meta.transport} needs a program to start`;
  }
  if (meta.args!.join(" ") !== "--listen ws://127.0.0.1:0") return `needs the options ${meta.args!.join(" ")}`;
  if (meta.launch?.umask !== undefined) return "needs a file mode mask";
  if (meta.serverEnv !== undefined) return "needs an environment of its own";
  const signals = lines.some((line) => line.dir === "event" && line.event === "signal to server");
  if (signals) return "sends signals to the server";
  return showsHome(transcript) ? "needs a home of its own" : null;
}

import { Bindings } from "./bindings.ts";
import { playCli } from "./cli_starts.ts";
import { Conversation } from "./conversation.ts";
import { adapt, type Rules } from "./differences.ts";
import { answerByPath, answersOf } from "./http_answers.ts";
import { playHttp } from "./http_exchanges.ts";
import { type Answerer, HttpPeer } from "./http_peer.ts";
import { Mismatch, TimingMismatch } from "./mismatch.ts";
import { PAUSES } from "./races.ts";
import { variablesShown } from "./requirements.ts";
import type { Target } from "./target.ts";
import type { Meta, Transcript } from "./lines.ts";
import { Workspace } from "./workspace.ts";

/** How often a recording is played until its timing comes out. */
const ATTEMPTS = 4;

/**
 * Plays a recording against a server and compares.
 *
 * @returns How many runs it took until the timing came out as it was recorded; almost always 1.
 * @throws {Mismatch} If the server does anything but what is recorded, {@linkcode Rules} considered.
 */
export async function play(transcript: Transcript, target: Target, rules: Rules): Promise<number> {
  const adapted = adapt(transcript, rules);
  for (let attempt = 1;; attempt++) {
    try {
      await playOnce(adapted, target, rules);
      return attempt;
    } catch (error) {
      if (!mayBeTiming(error, transcript.meta) || attempt === ATTEMPTS) throw error;
    }
  }
}

function mayBeTiming(error: unknown, { scenario }: Meta): boolean {
  return error instanceof TimingMismatch ||
    error instanceof Mismatch && PAUSES.some((pause) => pause.scenario === scenario);
}

async function playOnce(transcript: Transcript, target: Target, rules: Rules): Promise<void> {
  const isBare = target.kind === "command" && target.isBare === true;
  await using workspace = await Workspace.create(isBare ? variablesShown(transcript) : undefined);
  const context = {
    bindings: new Bindings(workspace),
    rules,
    surroundingsKnown: target.kind === "command" && !isBare,
    uid: transcript.meta.launch?.user?.uid,
  };
  if (transcript.meta.transport === "http") return await playHttp(transcript, target, workspace, context);
  if (transcript.meta.transport === "cli") {
    if (target.kind === "url") throw new Error("a running server cannot be started");
    return await playCli(transcript, target.words, workspace, context);
  }
  await using peer = makesHttpRequests(transcript) ? new HttpPeer(answererFor(transcript)) : null;
  if (peer !== null) context.bindings.set("port", String(peer.port));
  await using conversation = new Conversation(transcript, target, workspace, context, peer);
  await conversation.play();
}

/** True for recordings of `http/request` to a server on this machine. */
export function makesHttpRequests({ lines }: Transcript): boolean {
  return lines.some((line) => line.dir === "send" && JSON.stringify(line.msg)?.includes('"http://127.0.0.1:<port>/'));
}

function answererFor(transcript: Transcript): Answerer {
  return isFromCodexClient(transcript.meta) ? answersOf(transcript) : answerByPath;
}

/** True for recordings that take minutes, because they wait for what the server does after 30 or 80 seconds. */
export function isSlow({ scenario }: Meta): boolean {
  return scenario.startsWith("slow-");
}

/** True for recordings of the client that the server is made for. */
export function isFromCodexClient({ scenario }: Meta): boolean {
  return scenario.startsWith("codex-client-");
}

/** True for recordings about files. */
export function isAboutFiles({ scenario }: Meta): boolean {
  return scenario.startsWith("fs-");
}

import { makeJwt } from "./jwt.ts";
import { dirname } from "./paths.ts";
import { ANCESTORS, type Workspace } from "./workspace.ts";

const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";

/** What a placeholder may stand for, until it is known. */
const PATTERNS: Readonly<Record<string, string>> = {
  sessionId: UUID,
  sessionId2: UUID,
  port: "[1-9][0-9]{0,4}",
  tid: "[1-9][0-9]*",
  reason: ".+",
  providerId: "[0-9a-f]{64}",
  codexPathDir: '/[^"]+',
};

const PLACEHOLDER = /<([^<>]+)>/g;

/** What the placeholders of one run stand for. */
export class Bindings {
  readonly #values = new Map<string, string>();

  constructor(workspace: Workspace) {
    const { cwd, home, secrets, scene } = workspace;
    const files = { cwd, home, root: scene, dir: secrets, tok: `${secrets}/tok`, secret: `${secrets}/secret` };
    for (const [name, value] of Object.entries(files)) this.set(name, value);
    for (let k = 1, path = dirname(cwd); k <= ANCESTORS; k++, path = dirname(path)) this.set(`ancestor${k}`, path);
    this.set("hostname", Deno.hostname());
  }

  set(name: string, value: string): void {
    this.#values.set(name, value);
  }

  /** Forgets a value, so that the next one is accepted. */
  forget(name: string): void {
    this.#values.delete(name);
  }

  /** Text that is sent: a session that was never opened gets an id that no server has given. */
  async fill(text: string): Promise<string> {
    let filled = "";
    let end = 0;
    for (const match of text.matchAll(PLACEHOLDER)) {
      filled += text.slice(end, match.index) + await this.#value(match[1]!, match[0]);
      end = match.index + match[0].length;
    }
    return filled + text.slice(end);
  }

  async #value(name: string, original: string): Promise<string> {
    const value = this.#values.get(name);
    if (value !== undefined) return value;
    if (name.startsWith("jwt ")) return await makeJwt(name.slice("jwt ".length));
    if (PATTERNS[name] !== UUID) return original; // not one of ours, e.g. the `<MODE>` of a usage line
    this.set(name, crypto.randomUUID());
    return this.#values.get(name)!;
  }

  /** Compares text that was received; what a new placeholder stands for is remembered. */
  match(expected: string, actual: string): boolean {
    if (!expected.includes("<")) return expected === actual; // as a pattern it may be too large
    const names: string[] = [];
    let pattern = "";
    let end = 0;
    for (const { 0: whole, 1: name, index } of expected.matchAll(PLACEHOLDER)) {
      pattern += RegExp.escape(expected.slice(end, index));
      end = index + whole.length;
      const known = this.#values.get(name!);
      if (known !== undefined) pattern += RegExp.escape(known);
      else if (PATTERNS[name!] === undefined) pattern += RegExp.escape(whole);
      else if (names.includes(name!)) pattern += `\\k<${name}>`;
      else {
        names.push(name!);
        pattern += `(?<${name}>${PATTERNS[name!]})`;
      }
    }
    const groups = new RegExp(`^${pattern}${RegExp.escape(expected.slice(end))}$`).exec(actual);
    for (const name of groups === null ? [] : names) this.set(name, groups!.groups![name]!);
    return groups !== null;
  }
}

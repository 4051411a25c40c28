/** Source of the numbers: as the reference. */
const MAX_CAPABILITIES = 2_048;
const MAX_RESPONSE_BYTES = 4 * 1_048_576;
const MAX_WARNINGS = 64;

const LIMIT_REACHED = "capability discovery size limit reached";

interface Response {
  plugins: { readonly skills: readonly unknown[] }[];
  skills: unknown[];
  warnings: string[];
}

/** What of it all fits into one answer: plugins and skills count alike, and so do the bytes of their JSON. */
export class ResponseBudget {
  #capabilities = 0;
  #bytes = 0;
  #truncated = false;

  /** Whether nothing more can be let in. */
  get isSpent(): boolean {
    return this.#capabilities === MAX_CAPABILITIES || this.#bytes === MAX_RESPONSE_BYTES;
  }

  /** Something was not even looked at. */
  truncate(): void {
    this.#truncated = true;
  }

  /** The plugin with as many of its skills as there is room for; undefined if there is none for it. */
  admitPlugin<P extends { readonly skills: readonly unknown[] }>(plugin: P): P | undefined {
    const room = MAX_CAPABILITIES - this.#capabilities - 1;
    if (room < 0 || plugin.skills.length > room) this.#truncated = true;
    if (room < 0) return undefined;
    const admitted = { ...plugin, skills: plugin.skills.slice(0, room) };
    return this.#admit(1 + admitted.skills.length, admitted) ? admitted : undefined;
  }

  admitSkill(skill: unknown): boolean {
    return this.#admit(1, skill);
  }

  #admit(capabilities: number, value: unknown): boolean {
    const bytes = jsonBytes(value);
    if (this.#capabilities + capabilities > MAX_CAPABILITIES || this.#bytes + bytes > MAX_RESPONSE_BYTES) {
      this.#truncated = true;
      return false;
    }
    this.#capabilities += capabilities;
    this.#bytes += bytes;
    return true;
  }

  /** Takes away what is too much in the end: first warnings, then skills, then plugins, the last ones first. */
  trim(response: Response): void {
    response.warnings.splice(MAX_WARNINGS);
    let bytes = jsonBytes(response);
    if (!this.#truncated && bytes <= MAX_RESPONSE_BYTES) return;
    response.warnings.splice(MAX_WARNINGS - 1);
    response.warnings.unshift(LIMIT_REACHED);
    bytes = jsonBytes(response);
    if (bytes > MAX_RESPONSE_BYTES) {
      response.warnings.splice(1);
      bytes = jsonBytes(response);
    }
    for (const list of [response.skills, response.plugins]) {
      while (bytes > MAX_RESPONSE_BYTES && list.length > 0) {
        const comma = list.length > 1 ? 1 : 0;
        bytes -= jsonBytes(list.pop()) + comma;
      }
    }
  }
}

function jsonBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

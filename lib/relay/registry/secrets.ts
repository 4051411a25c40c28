import { encodeBase64 } from "../../base64.ts";

/** Shorter texts are found in what is no secret. */
const SHORTEST_LENGTH = 8;
/** What shows nobody's right to anything, and helps whoever looks for a fault. */
const PUBLIC_HEADERS = ["chatgpt-account-id", "content-type", "x-amz-date"];

/**
 * What a registry was shown, and must not be told if it repeats it: as it is, or as a program writes it into JSON, into a
 * URL, or in base64 with something before and behind it.
 */
export class Secrets {
  readonly #forms: readonly string[];

  /** @param headers What was shown. Of `authorization` the scheme is no secret. */
  constructor(headers: Readonly<Record<string, string>>) {
    this.#forms = Object.entries(headers).flatMap(([name, value]) => {
      if (PUBLIC_HEADERS.includes(name.toLowerCase())) return [];
      const secret = name.toLowerCase() === "authorization" ? value.slice(value.indexOf(" ") + 1) : value;
      return secret.length < SHORTEST_LENGTH ? [] : formsOf(secret);
    });
  }

  occurIn(text: string): boolean {
    return this.#forms.some((form) => text.includes(form));
  }

  /** The text with `[credential]` in their place. */
  hide(text: string): string {
    return this.#forms.reduce((shown, form) => shown.replaceAll(form, "[credential]"), text);
  }
}

function formsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const url = encodeURIComponent(secret.toWellFormed());
  const lowerUrl = url.replaceAll(/%../g, (escaped) => escaped.toLowerCase());
  return [...new Set([secret, json, json.replaceAll("/", "\\/"), url, lowerUrl, ...base64FormsOf(secret)])];
}

/** What is the same in base64 whatever stands around it, for each of the three places in a group where it may begin. */
function base64FormsOf(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  return [0, 1, 2].flatMap((offset) => {
    const placed = new Uint8Array(offset + bytes.length);
    placed.set(bytes, offset);
    const wholeDigits = Math.floor(placed.length * 8 / 6);
    const digits = encodeBase64(placed).slice(Math.ceil(offset * 8 / 6), wholeDigits);
    return [digits, digits.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

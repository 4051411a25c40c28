import { type Answer, AnswerError, type AnswerShape, readAnswer, readComplaint } from "./registry_answer.ts";
import { refused, RegistryError, shownText } from "./registry_error.ts";
import type { RegistryAnswer } from "./registry_http.ts";
import type { Secrets } from "./secrets.ts";

/** An answer, and what was shown to whoever gave it: it is not told again if the answer repeats it. */
export interface ShownTo extends RegistryAnswer {
  readonly secrets: Secrets;
}

/** What was asked for. */
export interface Success<N extends string, O extends string> {
  readonly answer: Answer<N, O>;
  readonly secrets: Secrets;
}

export interface Expected<N extends string, O extends string> extends AnswerShape<N, O> {
  /** What the request is, for errors that tell nothing of the answer. */
  readonly purpose: string;
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/**
 * What is in a successful answer.
 *
 * @param expected.hidesBody Nothing of the answer's body is told in an error but what was expected of it, and an answer
 *   that repeats a secret is none.
 * @throws {RegistryError} What else the answer is.
 */
export function readSuccess<N extends string, O extends string>(
  { status, body, defect, secrets }: ShownTo,
  expected: Expected<N, O> & { readonly hidesBody: boolean },
): Success<N, O> {
  const { purpose, hidesBody } = expected;
  // Neither why nor a stack trace of it is kept where it may repeat the answer.
  const invalid = () => new RegistryError("protocol", `invalid environment registry ${purpose} response`);
  if (!isSuccess(status)) {
    throw refused(status, readComplaint(body), { purpose, secrets, ...(hidesBody ? {} : { body }) });
  }
  if (defect !== undefined) throw defect;
  let answer: Answer<N, O>;
  try {
    answer = readAnswer(body, expected);
  } catch (error) {
    if (!(error instanceof AnswerError)) throw error;
    throw hidesBody ? invalid() : new RegistryError("json", shownText(error.message, secrets));
  }
  // Else the rendezvous might be shown the credential, in its URL. Seen.
  const repeats = (text: unknown) => typeof text === "string" && secrets.occurIn(text);
  if (hidesBody && [body, ...Object.values(answer)].some(repeats)) throw invalid();
  return { answer, secrets };
}

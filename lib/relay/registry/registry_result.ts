import { type Answer, AnswerError, type AnswerShape, readAnswer, readComplaint } from "./registry_answer.ts";
import { refused, RegistryError, shownText } from "./registry_error.ts";
import type { RegistryAnswer } from "./registry_http.ts";

/** An answer, and what was shown to whoever gave it: it is not told again if the answer repeats it. */
export interface ShownTo extends RegistryAnswer {
  readonly secrets: readonly string[];
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
 * @param expected.hidesBody Nothing of the answer's body is told in an error but what was expected of it.
 * @throws {RegistryError} What else the answer is.
 */
export function readSuccess<N extends string, O extends string>(
  { status, body, defect, secrets }: ShownTo,
  expected: Expected<N, O> & { readonly hidesBody: boolean },
): Answer<N, O> {
  const { purpose, hidesBody } = expected;
  if (!isSuccess(status)) {
    throw refused(status, readComplaint(body), { purpose, secrets, ...(hidesBody ? {} : { body }) });
  }
  if (defect !== undefined) throw defect;
  try {
    return readAnswer(body, expected);
  } catch (error) {
    if (!(error instanceof AnswerError)) throw error;
    // Neither the error nor a stack trace of it is kept: it may repeat the answer.
    if (hidesBody) throw new RegistryError("protocol", `invalid environment registry ${purpose} response`);
    throw new RegistryError("json", shownText(error.message, secrets));
  }
}

/** The numbers of the executor's credentials. Those without "ours" are the reference's, version 0.171.0. */

/** `--registration-bearer-stdin`: most bytes of the line, newline not counted. */
export const MAX_BEARER_BYTES = 16_383;
/** `--executor-credential-stdin`: the same for one frame. */
export const MAX_FRAME_BYTES = 16_383;
/** `--chatgpt-token-stdin`: the same; measured. */
export const MAX_CHATGPT_TOKEN_BYTES = 65_535;
/** How long the first frame of `--executor-credential-stdin` may take. */
export const FIRST_FRAME_TIMEOUT_MS = 30_000;

/** An access token that expires within this time is refreshed before it is shown. */
export const REFRESH_MARGIN_S = 300;
/** Ours: how long another program that was faster may take to write down what it got for the refresh token. */
export const OTHERS_WRITE_MS = 1_000;
/** Ours: the exchange with the token endpoint. */
export const REFRESH_TIMEOUT_MS = 30_000;
export const JWKS_TIMEOUT_MS = 10_000;
export const TASK_REGISTRATION_TIMEOUT_MS = 30_000;

/** Ours: a sign-in file has a few kB. */
export const MAX_AUTH_FILE_BYTES = 1024 * 1024;
/** Ours: an answer of a token endpoint, of a JWKS or of a task registration. */
export const MAX_ANSWER_BYTES = 1024 * 1024;

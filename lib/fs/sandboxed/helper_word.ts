/** The first argument that makes the compiled program its file helper. Documented nowhere: only we say it. */
export const FILES_HELPER_WORD = "__files-helper";

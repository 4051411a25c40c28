/**
 * What Landlock has to be able to do, in its own numbers. 6 (Linux 6.12) keeps signals within the sandbox; 5 ioctl on
 * devices, 3 truncation. With less, programs could reach what the policy keeps from them.
 */
export const MIN_LANDLOCK_VERSION = 6;

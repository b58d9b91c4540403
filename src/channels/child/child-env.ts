/**
 * The environment of child processes, which get nothing of the server's. It turns off Bun's crash
 * reports and the telemetry of ONNX Runtime: the server talks to nobody the operator did not name.
 */
export const CHILD_ENV = {
  BUN_ENABLE_CRASH_REPORTING: '0',
  DO_NOT_TRACK: '1',
  ORT_DISABLE_TELEMETRY: '1',
} as const

/**
 * Surroundings of the processes that run models, besides which they get none. Bun would report a
 * crash to its makers, and ONNX Runtime the models it runs, with an id that it keeps in the home
 * folder; without a word to the operator, whose server talks to nobody they did not name.
 */
export const CHILD_ENV = {
  BUN_ENABLE_CRASH_REPORTING: '0',
  DO_NOT_TRACK: '1',
  ORT_DISABLE_TELEMETRY: '1',
} as const

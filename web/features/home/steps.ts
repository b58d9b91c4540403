import type { ApiKeyMeta, Device, Provider, Status } from '../../api/types.ts'

export interface Facts {
  readonly provider: Provider | undefined
  readonly status: Status | undefined
  /** How many documents there are. */
  readonly docs: number | undefined
  readonly keys: readonly ApiKeyMeta[] | undefined
  readonly devices: readonly Device[] | undefined
}

export type StepId = 'model' | 'document' | 'key' | 'device'

/** Whether the platform channel has a model, not the built-in responder. */
export const hasPlatformModel = (status: Status | undefined): boolean =>
  status?.checks.find(({ name }) => name === 'llm')?.state === 'ok'

/** The completed steps of the first run; a step counts as undone while its state loads. */
export const stepsDone = (facts: Facts): Readonly<Record<StepId, boolean>> => ({
  model: facts.provider?.configured === true || hasPlatformModel(facts.status),
  document: (facts.docs ?? 0) > 0,
  key: facts.keys?.some(({ revoked_at }) => revoked_at === null) ?? false,
  device: facts.devices?.some(({ activated_at }) => activated_at !== null) ?? false,
})

/** Not everybody has hardware, so set-up is complete without a device. */
export const stepsLeft = ({ device: _optional, ...done }: ReturnType<typeof stepsDone>): number =>
  Object.values(done).filter((is) => !is).length

/** Whether the facts that the steps depend on have loaded. */
export const isKnown = (facts: Facts): boolean =>
  Object.values(facts).every((fact) => fact !== undefined)

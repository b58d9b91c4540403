import type { Notice, Run, Schedule } from '../../src/features/runs/model.ts'
import { call, segment } from './client.ts'

export type { Notice, Run, Schedule }

/** What the form of a schedule sends. */
export interface ScheduleInput {
  readonly name: string
  readonly text: string
  readonly cron: string | null
  readonly at: string | null
  readonly time_zone: string | null
  readonly app_id: string | null
  readonly device_id: string | null
  readonly session: 'new' | 'same'
  readonly enabled: boolean
  readonly max_model_calls: number
  readonly webhook_ids: readonly string[]
  readonly approved_tools: readonly string[]
}

const path = (id: string, rest = '') => `/console/schedules/${segment(id)}${rest}`

/** Calls about schedules, their runs and their results. All of them throw `ApiError`. */
export const schedules = {
  list: async (): Promise<readonly Schedule[]> =>
    (await call<{ schedules: Schedule[] }>('GET', '/console/schedules?limit=200')).schedules,
  save: (id: string | null, input: ScheduleInput) =>
    id === null
      ? call<Schedule>('POST', '/console/schedules', input)
      : call<Schedule>('PUT', path(id), input),
  /** Keeps what a colleague has changed since the list was loaded. */
  enable: async (id: string, enabled: boolean) => {
    const now = await call<Schedule>('GET', path(id))
    return call<Schedule>('PUT', path(id), { ...inputOf(now), enabled })
  },
  remove: (id: string) => call<unknown>('DELETE', path(id)),
  run: (id: string) => call<Run>('POST', path(id, '/run')),
  preview: async (times: Pick<ScheduleInput, 'cron' | 'at' | 'time_zone'>) =>
    (await call<{ next: string[] }>('POST', '/console/schedules/preview', times)).next,
  runs: async (id: string): Promise<readonly Run[]> =>
    (await call<{ runs: Run[] }>('GET', `/console/runs?limit=20&schedule_id=${segment(id)}`)).runs,
  notices: async (): Promise<readonly Notice[]> =>
    (await call<{ notices: Notice[] }>('GET', '/console/notices')).notices,
  read: (id: string) => call<unknown>('POST', `/console/notices/${segment(id)}/read`),
}

/** The schedule as the form would send it. */
const inputOf = (one: Schedule): ScheduleInput => ({
  name: one.name,
  text: one.text,
  cron: one.cron,
  at: one.at,
  time_zone: one.time_zone,
  app_id: one.app_id,
  device_id: one.device_id,
  session: one.session,
  enabled: one.enabled,
  max_model_calls: one.max_model_calls,
  webhook_ids: one.webhook_ids,
  approved_tools: one.approved_tools,
})

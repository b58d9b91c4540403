import { appError } from '../../core/errors.ts'
import { AGENT_BODY_BYTES_MAX } from '../../core/limits/contract.ts'
import { NOT_DEVICES } from '../../core/principal.ts'
import { namedSubject } from '../../core/subject.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import type { JsonAnswers } from '../../http/json-answers.ts'
import { pageDoc, pageOf } from '../../http/list-page.ts'
import { jsonDoc, queryDoc } from '../../http/openapi-parts.ts'
import type { AgentRequest } from '../agent/model.ts'
import {
  NoticeRead,
  NoticesResponse,
  PreviewRequest,
  PreviewResponse,
  RUN_STATUSES,
  Run,
  RunListResponse,
  runFields,
  Schedule,
  ScheduleDeleted,
  ScheduleListResponse,
  ScheduleRequest,
} from './model.ts'
import type { Notices } from './notices.ts'
import type { Runs } from './runs.ts'
import type { Schedules } from './schedules.ts'

const bodyOf = (turn: typeof AgentRequest) =>
  jsonBody(turn.omit({ replace_last: true, interactive: true }).extend(runFields), {
    bytesMax: AGENT_BODY_BYTES_MAX,
  })
const scheduleBody = jsonBody(ScheduleRequest)
const previewBody = jsonBody(PreviewRequest)

const RUNS_QUERY = [
  ...queryDoc({ status: 'only these', schedule_id: 'of one schedule' }),
  ...pageDoc('runs'),
]

const queryOf = ({ url }: Request) => new URL(url).searchParams

/** Turns that nobody waits for; `turn` is the body of a turn that somebody waits for. */
export const runRoutes = (on: Gated, runs: Runs, turn: typeof AgentRequest) => {
  const runBody = bodyOf(turn)
  return on
    .get(
      '/runs',
      ({ principal, request }) => {
        const { limit, before } = pageOf(request)
        const query = queryOf(request)
        const status = query.get('status') || null
        if (status !== null && !RUN_STATUSES.some((one) => one === status)) {
          throw appError('query_invalid', { field: 'status' })
        }
        const asked = { status, scheduleId: query.get('schedule_id') || null }
        return runs.list(principal, asked, before, limit)
      },
      {
        allow: NOT_DEVICES,
        response: RunListResponse,
        detail: { summary: 'List runs, newest first', parameters: RUNS_QUERY },
      },
    )
    .post(
      '/runs',
      async ({ principal, request, upload, set }) => {
        const body = await runBody.read(request, upload)
        const { app_id, at, max_model_calls, webhook_ids, ...turn } = body
        const subject = namedSubject(principal, turn.subject, request.headers)
        const asked = { app_id, at, max_model_calls, webhook_ids }
        const run = await runs.create(principal, { ...turn, subject }, asked)
        set.status = 202
        return run
      },
      {
        allow: NOT_DEVICES,
        parse: 'none',
        response: { 202: Run },
        detail: { summary: 'Ask for a turn that nobody waits for', requestBody: runBody.doc },
      },
    )
    .get(
      '/runs/:id',
      ({ principal, params, request }) =>
        runs.read(principal, params.id, queryOf(request).get('reply') === '1'),
      {
        allow: NOT_DEVICES,
        response: Run,
        detail: { summary: 'Read a run', parameters: queryDoc({ reply: '1: with its answer' }) },
      },
    )
    .post('/runs/:id/cancel', ({ principal, params }) => runs.cancel(principal, params.id), {
      allow: NOT_DEVICES,
      parse: 'none',
      response: Run,
      detail: { summary: 'Cancel a run' },
    })
}

/** Turns that begin by the clock. */
export const scheduleRoutes = (on: Gated, schedules: Schedules, answers: JsonAnswers) =>
  on
    .get(
      '/schedules',
      (context) => {
        const { limit, before } = pageOf(context.request)
        return answers.respond(context, () => schedules.list(context.principal, before, limit))
      },
      {
        allow: NOT_DEVICES,
        detail: {
          summary: 'List schedules and reminders, newest first',
          parameters: pageDoc('schedules'),
          responses: jsonDoc(ScheduleListResponse),
        },
      },
    )
    .post(
      '/schedules',
      async ({ principal, request, upload, set }) => {
        const schedule = await schedules.create(principal, await scheduleBody.read(request, upload))
        set.status = 201
        return schedule
      },
      {
        allow: NOT_DEVICES,
        parse: 'none',
        response: { 201: Schedule },
        detail: { summary: 'Create a schedule', requestBody: scheduleBody.doc },
      },
    )
    .post(
      '/schedules/preview',
      async ({ principal, request, upload }) =>
        schedules.preview(principal, await previewBody.read(request, upload)),
      {
        allow: NOT_DEVICES,
        parse: 'none',
        response: PreviewResponse,
        detail: { summary: 'When a schedule would run', requestBody: previewBody.doc },
      },
    )
    .get('/schedules/:id', ({ principal, params }) => schedules.read(principal, params.id), {
      allow: NOT_DEVICES,
      response: Schedule,
      detail: { summary: 'Read a schedule' },
    })
    .put(
      '/schedules/:id',
      async ({ principal, params, request, upload }) =>
        schedules.replace(principal, params.id, await scheduleBody.read(request, upload)),
      {
        allow: NOT_DEVICES,
        parse: 'none',
        response: Schedule,
        detail: { summary: 'Replace a schedule', requestBody: scheduleBody.doc },
      },
    )
    .delete('/schedules/:id', ({ principal, params }) => schedules.remove(principal, params.id), {
      allow: NOT_DEVICES,
      response: ScheduleDeleted,
      detail: { summary: 'Delete a schedule or a reminder' },
    })
    .post(
      '/schedules/:id/run',
      async ({ principal, params, set }) => {
        const run = await schedules.run(principal, params.id)
        set.status = 202
        return run
      },
      {
        allow: NOT_DEVICES,
        parse: 'none',
        response: { 202: Run },
        detail: { summary: 'Run a schedule now' },
      },
    )

/** Results for the person who is signed in. */
export const noticeRoutes = (on: Gated, notices: Notices) =>
  on
    .get('/notices', ({ principal }) => notices.list(principal), {
      allow: ['session'],
      response: NoticesResponse,
      detail: { summary: 'Results of schedules and reminders that were not read' },
    })
    .post('/notices/:id/read', ({ principal, params }) => notices.read(principal, params.id), {
      allow: ['session'],
      parse: 'none',
      response: NoticeRead,
      detail: { summary: 'Mark a notice as read' },
    })

import { MANAGERS } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import type { JsonAnswers } from '../../http/json-answers.ts'
import { jsonDoc } from '../../http/openapi-parts.ts'
import {
  CreatePersonaRequest,
  Persona,
  PersonaDeleteResponse,
  PersonaListResponse,
  PersonaUpdateRequest,
} from './model.ts'
import type { Personas } from './service.ts'

const create = jsonBody(CreatePersonaRequest)
const update = jsonBody(PersonaUpdateRequest)

/** The persona library, below /console. */
export const personaRoutes = (on: Gated, personas: Personas, answers: JsonAnswers) =>
  on
    .get(
      '/personas',
      (context) => answers.respond(context, () => personas.list(context.principal.tenantId)),
      {
        allow: MANAGERS,
        detail: { summary: 'List personas', responses: jsonDoc(PersonaListResponse) },
      },
    )
    .post(
      '/personas',
      async ({ principal, request, upload, set }) => {
        const input = await create.read(request, upload)
        const persona = await personas.create(principal.tenantId, input)
        set.status = 201
        return persona
      },
      {
        allow: MANAGERS,
        parse: 'none',
        response: { 201: Persona },
        detail: { summary: 'Create a persona', requestBody: create.doc },
      },
    )
    .put(
      '/personas/:id',
      async ({ principal, params, request, upload }) =>
        personas.update(principal.tenantId, params.id, await update.read(request, upload)),
      {
        allow: MANAGERS,
        parse: 'none',
        response: Persona,
        detail: { summary: 'Change name and prompt of a persona', requestBody: update.doc },
      },
    )
    .delete(
      '/personas/:id',
      ({ principal, params }) => personas.remove(principal.tenantId, params.id),
      {
        allow: MANAGERS,
        response: PersonaDeleteResponse,
        detail: { summary: 'Delete a persona' },
      },
    )
    .post(
      '/personas/:id/default',
      ({ principal, params }) => personas.makeDefault(principal.tenantId, params.id),
      {
        allow: MANAGERS,
        parse: 'none',
        response: Persona,
        detail: { summary: 'Make a persona the only default' },
      },
    )
    .delete(
      '/personas/:id/default',
      ({ principal, params }) => personas.unmakeDefault(principal.tenantId, params.id),
      {
        allow: MANAGERS,
        response: Persona,
        detail: { summary: 'Let a persona be the default no longer' },
      },
    )

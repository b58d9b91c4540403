import { Elysia } from 'elysia'
import type { PrincipalKind } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gate } from '../../http/gate.ts'
import { PeopleResponse, Person, PersonDeleteResponse, PersonPutRequest } from './model.ts'
import type { People } from './service.ts'

const PEOPLE: readonly PrincipalKind[] = ['session']
const change = jsonBody(PersonPutRequest)

/** The people who can sign in, below /console/system. */
export const peopleRoutes = (gate: Gate, people: People) =>
  new Elysia()
    .use(gate)
    .get('/system/people', () => people.list(), {
      allow: PEOPLE,
      requireOperator: true,
      response: PeopleResponse,
      detail: { summary: 'List everybody who can sign in' },
    })
    .put(
      '/system/people/:id',
      async ({ principal, params, request, upload }) => {
        const { disabled } = await change.read(request, upload)
        return people.setDisabled(params.id, disabled, principal.userId ?? '')
      },
      {
        allow: PEOPLE,
        requireOperator: true,
        parse: 'none',
        response: Person,
        detail: { summary: 'Let a person sign in, or no more', requestBody: change.doc },
      },
    )
    .delete(
      '/system/people/:id',
      ({ principal, params }) => people.remove(params.id, principal.userId ?? ''),
      {
        allow: PEOPLE,
        requireOperator: true,
        response: PersonDeleteResponse,
        detail: { summary: 'Delete a person, with the workspaces that have nobody else' },
      },
    )

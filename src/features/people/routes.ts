import type { PrincipalKind } from '../../core/principal.ts'
import { jsonBody } from '../../http/body.ts'
import type { Gated } from '../../http/gate.ts'
import type { Origins } from '../../http/origin.ts'
import {
  PeopleResponse,
  Person,
  PersonAddRequest,
  PersonDeleteResponse,
  PersonLink,
  PersonPutRequest,
} from './model.ts'
import type { People } from './service.ts'

const PEOPLE: readonly PrincipalKind[] = ['session']
const added = jsonBody(PersonAddRequest)
const change = jsonBody(PersonPutRequest)

/** The people who can sign in, below /console/system. */
export const peopleRoutes = (on: Gated, people: People, { base }: Pick<Origins, 'base'>) =>
  on
    .get('/system/people', () => people.list(), {
      allow: PEOPLE,
      requireOperator: true,
      response: PeopleResponse,
      detail: { summary: 'List everybody who can sign in' },
    })
    .post(
      '/system/people',
      async ({ request, upload, set }) => {
        const { email, operator = false } = await added.read(request, upload)
        const person = await people.add(email, operator)
        set.status = 201
        return person
      },
      {
        allow: PEOPLE,
        requireOperator: true,
        parse: 'none',
        response: { 201: Person },
        detail: { summary: 'Add a person', requestBody: added.doc },
      },
    )
    .post('/system/people/:id/sign-out', ({ params }) => people.signOut(params.id), {
      allow: PEOPLE,
      requireOperator: true,
      parse: 'none',
      response: Person,
      detail: { summary: 'End all sessions of a person' },
    })
    .post(
      '/system/people/:id/link',
      async ({ params, request, set }) => {
        const link = await people.link(params.id, base(request))
        set.status = 201
        set.headers['cache-control'] = 'no-store'
        return link
      },
      {
        allow: PEOPLE,
        requireOperator: true,
        parse: 'none',
        response: { 201: PersonLink },
        detail: { summary: 'Make a link that signs a person in once' },
      },
    )
    .put(
      '/system/people/:id',
      async ({ principal, params, request, upload }) => {
        const given = await change.read(request, upload)
        return people.change(params.id, given, principal.userId ?? '')
      },
      {
        allow: PEOPLE,
        requireOperator: true,
        parse: 'none',
        response: Person,
        detail: {
          summary: 'Let a person sign in or run the server, or no more',
          requestBody: change.doc,
        },
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

// Generated from docs/protocols/openapi.json by `npm run codegen`. Do not edit.

export interface paths {
    "/api/v1/auth/exchange": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Exchange a one-time code for a session token */
        post: operations["postAuthExchange"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make a fresh one-time sign-in link */
        post: operations["postAuthLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/sign-out": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End this session */
        post: operations["postAuthSignOut"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The running host */
        get: operations["getStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop the host */
        post: operations["postStop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/doctor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Look at everything ChatOS stands on */
        get: operations["getDoctor"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/doctor/fix": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Do the lossless repairs */
        post: operations["postDoctorFix"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every setting with its effective value */
        get: operations["getSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/settings/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One setting */
        get: operations["getSettingsKey"];
        /** Store a value */
        put: operations["putSettingsKey"];
        post?: never;
        /** Go back to the default */
        delete: operations["deleteSettingsKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check the chain of audit records */
        get: operations["getAuditVerify"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tasks, most recently updated first */
        get: operations["getTasks"];
        put?: never;
        /** Make a task */
        post: operations["postTasks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One task */
        get: operations["getTasksId"];
        put?: never;
        post?: never;
        /** Delete a task */
        delete: operations["deleteTasksId"];
        options?: never;
        head?: never;
        /** Change a task */
        patch: operations["patchTasksId"];
        trace?: never;
    };
    "/api/v1/tasks/{id}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Mark a task done with a note */
        post: operations["postTasksIdComplete"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tasks/clear": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Delete finished or all tasks */
        post: operations["postTasksClear"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/journal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Journal entries, newest first */
        get: operations["getJournal"];
        put?: never;
        /** Add an entry */
        post: operations["postJournal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/journal/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Projects with a journal */
        get: operations["getJournalProjects"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/journal/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One entry */
        get: operations["getJournalId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events/ticket": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A ticket for one event WebSocket */
        post: operations["postEventsTicket"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description A one-time code from a sign-in link. */
        SignIn: {
            /** @description The text after `#code=`. */
            code: string;
        };
        /** @description What a signed-in page sends from then on. */
        SignedIn: {
            /** @description `Authorization: Bearer <token>`. */
            token: string;
        };
        /** @description `{}`: the body of a write that needs no values. */
        Empty: Record<string, never>;
        /** @description A fresh one-time link. */
        SignInLink: {
            /** @description Works once, for a minute. */
            signInUrl: string;
        };
        /** @description `{"ok":true}`. */
        Done: {
            /** @description Always true; failures have another shape. */
            ok: boolean;
        };
        /** @description The running host. */
        Status: {
            /** @description Always true in an answer; `chatos status` says false when nobody answers. */
            running: boolean;
            version: string;
            pid: number;
            /** @description ISO time. */
            startedAt: string;
            uptimeMs: number;
            stateDir: string;
            projectRoot: string;
            url: string;
            hostApp: string;
            /** @description The network can reach it. */
            remote: boolean;
            rssBytes: number;
            sqliteVersion: string;
            /** @description Null until it was looked for, or when there is none. */
            node?: components["schemas"]["Node"] | null;
            counts: components["schemas"]["Counts"];
            /** @description The state cannot be written. */
            readOnly: boolean;
            notices: components["schemas"]["NoticeView"][];
        };
        /** @description The Node that plugins run with. */
        Node: {
            path: string;
            version: string;
        };
        /** @description Numbers for badges and the status line. */
        Counts: {
            needsYou: number;
            results: number;
            plugins: number;
            pluginProblems: number;
            runningChats: number;
        };
        /** @description Something about this start worth knowing. */
        NoticeView: {
            code: string;
            /** @description `warning` or `info`. */
            severity: string;
            message: string;
            hint?: string | null;
        };
        /** @description Everything the doctor looked at, worst first. */
        Report: {
            /** @description No errors; warnings are allowed. */
            ok: boolean;
            checkedAt: string;
            findings: components["schemas"]["FindingView"][];
        };
        /** @description One thing it looked at. */
        FindingView: {
            code: string;
            /** @description `error`, `warning`, `info` or `ok`. */
            severity: string;
            title: string;
            message: string;
            path?: string | null;
            /** @description What to do. */
            action?: string | null;
            /** @description `--fix` can do it. */
            fixable: boolean;
        };
        /** @description All settings, grouped as the page shows them. */
        SettingList: {
            items: components["schemas"]["Setting"][];
        };
        /** @description One setting. */
        Setting: {
            key: string;
            /** @description The value in force. */
            value: unknown;
            default: unknown;
            source: components["schemas"]["Source"];
            /** @description The flag or variable that decides it. */
            sourceName?: string | null;
            section: string;
            type: components["schemas"]["Kind"];
            /** @description Takes effect at the next start. */
            restart: boolean;
            /** @description The value in force is less safe than the default. */
            weakensSafety: boolean;
            /** @description False while a flag or variable decides. */
            editable: boolean;
            /** @description A value that was ignored or brought into range. */
            warning?: string | null;
            label: components["schemas"]["Both"];
            description: components["schemas"]["Both"];
            updatedAt?: string | null;
        };
        /**
         * @description Where a value comes from, strongest first.
         * @enum {string}
         */
        Source: "flag" | "env" | "setting" | "default";
        /** @description What may be entered. */
        Kind: {
            /** @constant */
            kind: "bool";
        } | {
            /** @constant */
            kind: "int";
            min: number;
            max: number;
            zeroMeansOff: boolean;
        } | {
            /** @constant */
            kind: "enum";
            options: string[];
        } | {
            /** @constant */
            kind: "string";
        } | {
            /** @constant */
            kind: "list";
            maxItems: number;
        } | {
            /** @constant */
            kind: "map";
            min: number;
            max: number;
        };
        /** @description A text in both languages. */
        Both: {
            zh: string;
            en: string;
        };
        /** @description A new value. */
        NewValue: {
            value: unknown;
        };
        /** @description Is the chain of audit records whole? */
        Verdict: {
            ok: boolean;
            /** @description Records found in order. */
            records: number;
            /** @description The first bad place. */
            file?: string | null;
            line?: number | null;
            reason?: string | null;
        };
        /** @description A page of tasks. */
        TaskList: {
            items: components["schemas"]["TaskView"][];
            total: number;
            open: number;
            nextCursor?: string | null;
        };
        /** @description One task. */
        TaskView: {
            id: string;
            title: string;
            details: string;
            /** @description `todo`, `doing`, `blocked` or `done`. */
            status: string;
            /** @description `high`, `medium` or `low`. */
            priority: string;
            /** @description `default`, `cli` or `chat`. */
            scope: string;
            tags: string[];
            runId: string;
            sessionId: string;
            createdAt: string;
            updatedAt: string;
            completedAt?: string | null;
            notes: components["schemas"]["NoteView"][];
        };
        /** @description A remark on a task. */
        NoteView: {
            /** @description `note` or `completion`. */
            kind: string;
            text: string;
            createdAt: string;
        };
        /** @description A task to be made. */
        TaskInput: {
            title: string;
            /** @default  */
            details: string;
            /** @default medium */
            priority: string;
            /** @default todo */
            status: string;
            /** @default [] */
            tags: string[];
            /** @default default */
            scope: string;
            /** @default  */
            sessionId: string;
            /** @default  */
            runId: string;
            /** @description The same key makes one task. */
            dedupeKey?: string | null;
        };
        /** @description Fields to change. */
        TaskChange: {
            title?: string | null;
            details?: string | null;
            appendNote?: string | null;
            priority?: string | null;
            status?: string | null;
            tags?: string[] | null;
        };
        /** @description Why a task is done. */
        Completion: {
            note: string;
        };
        /** @description Which tasks go. */
        Clearing: {
            /** @description `done` or `all`. */
            mode: string;
            /** @default  */
            scope: string;
            /** @default  */
            sessionId: string;
            /** @default  */
            runId: string;
        };
        /** @description What clearing did. */
        Cleared: {
            cleared: number;
            remaining: number;
        };
        /** @description A page of entries. */
        EntryList: {
            projectRoot: string;
            items: components["schemas"]["EntryView"][];
            total: number;
            nextCursor?: string | null;
        };
        /** @description One entry. */
        EntryView: {
            id: string;
            ts: string;
            title: string;
            tags: string[];
            summary: string;
            details: string;
            files: string[];
            highlights: string[];
            nextSteps: string[];
            runId: string;
            sessionId: string;
        };
        /** @description An entry to be added. */
        EntryInput: {
            /** @description The host's project when absent. */
            projectRoot?: string | null;
            /** @default  */
            title: string;
            summary: string;
            /** @default  */
            details: string;
            /** @default [] */
            tags: string[];
            /** @default [] */
            files: string[];
            /** @default [] */
            highlights: string[];
            /** @default [] */
            nextSteps: string[];
            dedupeKey?: string | null;
        };
        /** @description Projects that have a journal, most recent first. */
        Projects: {
            items: components["schemas"]["Project"][];
        };
        /** @description One of them. */
        Project: {
            root: string;
            entries: number;
        };
        /** @description Opens one WebSocket. */
        Ticket: {
            /** @description Sent as the sub-protocol `ticket.<ticket>` beside `chatos.v1`. */
            ticket: string;
            expiresInMs: number;
        };
        Error: {
            error: {
                /** @description Stable, never translated */
                code: string;
                /** @description What was being done to what */
                message: string;
                /** @description What to do about it */
                hint?: string;
                /** @description Machine-readable detail; `errors` holds JSON pointers */
                details?: unknown;
            };
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    postAuthExchange: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SignIn"];
            };
        };
        responses: {
            /** @description Exchange a one-time code for a session token */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postAuthLink: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Make a fresh one-time sign-in link */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInLink"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postAuthSignOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description End this session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getStatus: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The running host */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Status"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postStop: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Stop the host */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getDoctor: {
        parameters: {
            query?: {
                /** @description true: check the whole database */
                deep?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Look at everything ChatOS stands on */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Report"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postDoctorFix: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Do the lossless repairs */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Report"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every setting with its effective value */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettingList"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getSettingsKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One setting */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Setting"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    putSettingsKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewValue"];
            };
        };
        responses: {
            /** @description Store a value */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Setting"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteSettingsKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Go back to the default */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Setting"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getAuditVerify: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Check the chain of audit records */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Verdict"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getTasks: {
        parameters: {
            query?: {
                /** @description default, cli or chat */
                scope?: string;
                /** @description only this session */
                sessionId?: string;
                /** @description only this run */
                runId?: string;
                /** @description todo, doing, blocked or done */
                status?: string;
                /** @description exact */
                tag?: string;
                /** @description in title or details */
                q?: string;
                /** @description true: leave finished ones out */
                open?: string;
                /** @description 1 to 200 */
                limit?: string;
                /** @description from the page before */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tasks, most recently updated first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskList"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postTasks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskInput"];
            };
        };
        responses: {
            /** @description Make a task */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskView"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getTasksId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One task */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskView"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteTasksId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete a task */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    patchTasksId: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskChange"];
            };
        };
        responses: {
            /** @description Change a task */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskView"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postTasksIdComplete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Completion"];
            };
        };
        responses: {
            /** @description Mark a task done with a note */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskView"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postTasksClear: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Clearing"];
            };
        };
        responses: {
            /** @description Delete finished or all tasks */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Cleared"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getJournal: {
        parameters: {
            query?: {
                /** @description the host's project when absent */
                projectRoot?: string;
                /** @description exact */
                tag?: string;
                /** @description in all texts */
                q?: string;
                /** @description 1 to 200 */
                limit?: string;
                /** @description from the page before */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Journal entries, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntryList"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postJournal: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EntryInput"];
            };
        };
        responses: {
            /** @description Add an entry */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntryView"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getJournalProjects: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Projects with a journal */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Projects"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    getJournalId: {
        parameters: {
            query?: {
                /** @description the host's project when absent */
                projectRoot?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One entry */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EntryView"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    postEventsTicket: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description A ticket for one event WebSocket */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ticket"];
                };
            };
            /** @description The error object */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}

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
    "/api/v1/auth/challenge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Something for a signed-in browser to sign */
        get: operations["getAuthChallenge"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/auth/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A session token for a signed-in browser, by cookie and signature */
        post: operations["postAuthRenew"];
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
        /** End this session and sign its browser out */
        post: operations["postAuthSignOut"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/browsers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Browsers that are signed in */
        get: operations["getBrowsers"];
        put?: never;
        post?: never;
        /** Sign all browsers out */
        delete: operations["deleteBrowsers"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/browsers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Sign a browser out */
        delete: operations["deleteBrowsersId"];
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
    "/api/v1/prompts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Questions to the person */
        get: operations["getPrompts"];
        put?: never;
        /** Ask the person */
        post: operations["postPrompts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One question with its answer */
        get: operations["getPromptsId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The whole text of a question, in parts; what was not given cannot be approved */
        get: operations["getPromptsIdDiff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{id}/response": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer a question; the first answer wins */
        post: operations["postPromptsIdResponse"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{id}/snooze": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Put a question off for a while, or back */
        post: operations["postPromptsIdSnooze"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{id}/together": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Open questions that are asked with this one */
        get: operations["getPromptsIdTogether"];
        put?: never;
        /** Approve some of the questions asked together, and refuse the others */
        post: operations["postPromptsIdTogether"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/bulk/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What one decision about many questions would answer, with a digest over it */
        post: operations["postPromptsBulkPreview"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/bulk": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer many questions, if they still are what was shown */
        post: operations["postPromptsBulk"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{id}/wait": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Wait for the verified answer */
        get: operations["getPromptsIdWait"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{id}/take": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take the private values, exactly once */
        post: operations["postPromptsIdTake"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{id}/close": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Withdraw a question */
        post: operations["postPromptsIdClose"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{id}/consume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Erase the private values of an app's question */
        post: operations["postPromptsIdConsume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{id}/draft": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What this browser had typed */
        get: operations["getPromptsIdDraft"];
        /** Keep what was typed */
        put: operations["putPromptsIdDraft"];
        post?: never;
        /** Forget what was typed */
        delete: operations["deletePromptsIdDraft"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Move old answered questions to the archive */
        post: operations["postPromptsArchive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The log as entries */
        get: operations["getPromptsLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/find": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Ids that begin with a prefix */
        get: operations["getPromptsFind"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is wrong with the log */
        get: operations["getPromptsCheck"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Rules that answer questions */
        get: operations["getRules"];
        put?: never;
        /** Keep a rule */
        post: operations["postRules"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove a rule */
        delete: operations["deleteRulesId"];
        options?: never;
        head?: never;
        /** Pause or resume a rule */
        patch: operations["patchRulesId"];
        trace?: never;
    };
    "/api/v1/rules/decide": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What the rules would say about a call */
        post: operations["postRulesDecide"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/backtest": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** How a rule compares with past answers */
        post: operations["postRulesBacktest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/proposals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Rules that past answers suggest */
        get: operations["getRulesProposals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/rules/uses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What rules answered of late */
        get: operations["getRulesUses"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/prompts/{id}/rule": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The rule that would have answered a question */
        post: operations["postPromptsIdRule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Where you are told of questions */
        get: operations["getChannels"];
        put?: never;
        /** Add a channel */
        post: operations["postChannels"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/channels/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove a channel with its key */
        delete: operations["deleteChannelsId"];
        options?: never;
        head?: never;
        /** Pause or change a channel */
        patch: operations["patchChannelsId"];
        trace?: never;
    };
    "/api/v1/channels/{id}/connect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make a code with which a chat is connected */
        post: operations["postChannelsIdConnect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/channels/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a test */
        post: operations["postChannelsIdTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/presence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A page is in use, or went out of sight */
        post: operations["postPresence"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Runs, newest first */
        get: operations["getRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One run with its steps */
        get: operations["getRunsId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/abort": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stops a run */
        post: operations["postRunsIdAbort"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Continues an interrupted run, or one that failed because its chat was too long */
        post: operations["postRunsIdResume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/discard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Gives up an interrupted run */
        post: operations["postRunsIdDiscard"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/steer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Corrects a run under way */
        post: operations["postRunsIdSteer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/branch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A new chat whose history ends at a step */
        post: operations["postRunsIdBranch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/traces/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All spans of a trace */
        get: operations["getTracesId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tokens and money */
        get: operations["getUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Chats, pinned ones first, then the most recent */
        get: operations["getSessions"];
        put?: never;
        /** Makes a chat */
        post: operations["postSessions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/scratch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes the folder for trying things out, outside every project */
        post: operations["postScratch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes a chat of an exported file; it is only read */
        post: operations["postSessionsImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Messages that contain a text */
        get: operations["getSessionsSearch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One chat with what it used */
        get: operations["getSessionsId"];
        put?: never;
        post?: never;
        /** Deletes a chat with its messages */
        delete: operations["deleteSessionsId"];
        options?: never;
        head?: never;
        /** Changes a chat */
        patch: operations["patchSessionsId"];
        trace?: never;
    };
    "/api/v1/sessions/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A page of messages, oldest first */
        get: operations["getSessionsIdMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Events of a chat after a position, waiting for the first one */
        get: operations["getSessionsIdEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{id}/send": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Sends a message; the answer comes as events */
        post: operations["postSessionsIdSend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{id}/abort": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stops the answer under way */
        post: operations["postSessionsIdAbort"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answers the last message of the person again */
        post: operations["postSessionsIdRetry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{id}/messages/{message}/select": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Shows another version of a message, with what followed it */
        post: operations["postSessionsIdMessagesMessageSelect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{id}/messages/{message}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Deletes a version of a person's message with all that hangs on it */
        delete: operations["deleteSessionsIdMessagesMessage"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{id}/messages/{message}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes a chat that begins with this one up to a message */
        post: operations["postSessionsIdMessagesMessageFork"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{id}/compact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Summarises the beginning of the chat for the model */
        post: operations["postSessionsIdCompact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The chat as a file, without secrets */
        get: operations["getSessionsIdExport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/commands": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a person can type behind `/` */
        get: operations["getCommands"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/commands/fill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The text that a typed command becomes; nothing is sent */
        post: operations["postCommandsFill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/commands/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What a server suggests for an argument of its prompt, or a variable of its template */
        post: operations["postCommandsComplete"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/commands/own": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The person's own commands with their texts */
        get: operations["getCommandsOwn"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/commands/own/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Writes one of the person's own commands */
        put: operations["putCommandsOwnName"];
        post?: never;
        /** Removes one of the person's own commands */
        delete: operations["deleteCommandsOwnName"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mentions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Files and resources that match what is typed behind `@` */
        get: operations["getMentions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mentions/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Files and resources as a message carries them; nothing is sent */
        post: operations["postMentionsRead"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/instructions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Texts of a project that go with messages, and what becomes of each */
        get: operations["getInstructions"];
        /** Whether a project's texts are used; what is there now */
        put: operations["putInstructions"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/subagents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Subagents by plugin */
        get: operations["getSubagents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/subagents/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Subagents of a folder: shown first, taken with `apply` */
        post: operations["postSubagentsImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/subagents/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Removes a plugin of subagents */
        delete: operations["deleteSubagentsId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/subagents/{id}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Switches a plugin of subagents on */
        post: operations["postSubagentsIdEnable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/subagents/{id}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Switches a plugin of subagents off */
        post: operations["postSubagentsIdDisable"];
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
    "/api/v1/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What tools changed in files, newest first */
        get: operations["getChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/changes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One change with its diff, and whether it can be undone */
        get: operations["getChangesId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/changes/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Undo changes of one root, all or none */
        post: operations["postChangesUndo"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Built-in servers and their tools without schemas, or the tools of an agent */
        get: operations["getTools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tools/{server}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One server with the schemas of its tools */
        get: operations["getToolsServer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tools/{server}/{tool}/call": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Call a tool and wait for its result; closing the connection cancels it */
        post: operations["postToolsServerToolCall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tools/call": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Call a tool named in the body */
        post: operations["postToolsCall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tools/calls/{callId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How a call by hand stands: whether it runs, and what it asked a person */
        get: operations["getToolsCallsCallId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tools/calls/{callId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a running call */
        post: operations["postToolsCallsCallIdCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/passed-on": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Prompts, resources and instructions of an agent's servers */
        get: operations["getPassedOn"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/passed-on/ask": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask a granted server for a prompt, a resource or a completion */
        post: operations["postPassedOnAsk"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tool-news": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Waits until tools, servers or grants changed */
        get: operations["getToolNews"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tool-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Calls of tools, newest first */
        get: operations["getToolLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mcp-servers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every MCP server the host knows, with its state */
        get: operations["getMcpServers"];
        put?: never;
        /** Add a server */
        post: operations["postMcpServers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mcp-servers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One server */
        get: operations["getMcpServersId"];
        /** Change a server; absent keys stay as they are */
        put: operations["putMcpServersId"];
        post?: never;
        /** Remove a server and end its process */
        delete: operations["deleteMcpServersId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mcp-servers/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Read the servers of another client's file, and take them over with `apply` */
        post: operations["postMcpServersImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mcp-servers/{id}/connect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start a server and wait for it */
        post: operations["postMcpServersIdConnect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mcp-servers/{id}/restart": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start a server anew; its failures are forgotten */
        post: operations["postMcpServersIdRestart"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mcp-servers/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop a server until it is restarted */
        post: operations["postMcpServersIdStop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mcp-servers/{id}/sign-in": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Begin a sign-in to a server that wants one; the person goes to the address */
        post: operations["postMcpServersIdSignIn"];
        /** Sign out: end what was given, there and here */
        delete: operations["deleteMcpServersIdSignIn"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mcp-servers/{id}/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The tools of a server; it is started for that */
        get: operations["getMcpServersIdTools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/mcp-servers/{id}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The newest lines of a server's log */
        get: operations["getMcpServersIdLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tool-pins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tools that differ from what was approved */
        get: operations["getToolPins"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tool-pins/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Approve tools as they were shown */
        post: operations["postToolPinsApprove"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All plugins, apps and problems */
        get: operations["getPlugins"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One plugin in full */
        get: operations["getPluginsId"];
        put?: never;
        post?: never;
        /** Remove a plugin (?data=keep|delete) */
        delete: operations["deletePluginsId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/{id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Files of a plugin */
        get: operations["getPluginsIdFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/{id}/trust-sheet": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Everything to decide by, with what changed */
        get: operations["getPluginsIdTrustSheet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/{id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One file as trusted and as it is */
        get: operations["getPluginsIdDiff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/{id}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Newest output of its processes */
        get: operations["getPluginsIdLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/{id}/trust": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Trust exactly these bytes */
        post: operations["postPluginsIdTrust"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/{id}/untrust": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take trust back */
        post: operations["postPluginsIdUntrust"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/install": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Install a package by path, or by a body of type application/zip */
        post: operations["postPluginsInstall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/plugins/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Look at the plugin directories again */
        post: operations["postPluginsRefresh"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{app}/ai": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What an app (PLUGIN.APP) contributes */
        get: operations["getAppsAppAi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{plugin}/{app}/open": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Address and handshake of an app's frame */
        post: operations["postAppsPluginAppOpen"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{plugin}/{app}/backend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Call a method of an app's own backend */
        post: operations["postAppsPluginAppBackend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{plugin}/{app}/closed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A frame was closed: private values of its questions are erased */
        post: operations["postAppsPluginAppClosed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{plugin}/{app}/wanted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The page refused an app a capability; shown on the plugin's page */
        post: operations["postAppsPluginAppWanted"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{plugin}/roots/forget": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take a folder back from a plugin's apps; they may ask for it again */
        post: operations["postAppsPluginRootsForget"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/calls/{call}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a call of a backend by its callId */
        post: operations["postAppsCallsCallCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/needed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Apps whose front end is needed now */
        get: operations["getAppsNeeded"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/confinement": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** The page says whether its browser keeps pages of apps off the network */
        put: operations["putAppsConfinement"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{plugin}/backend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How the backend of a plugin stands */
        get: operations["getAppsPluginBackend"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{plugin}/backend/restart": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Start the backend of a plugin again */
        post: operations["postAppsPluginBackendRestart"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{plugin}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Newest output of a plugin's processes */
        get: operations["getAppsPluginLog"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/admin/state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What apps may know of the settings: models, servers, prompts; secrets masked */
        get: operations["getAdminState"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/apps/{plugin}/capabilities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What the apps of a plugin may call */
        get: operations["getAppsPluginCapabilities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Decisions about capabilities of apps */
        get: operations["getGrants"];
        /** Give a capability to apps, take it back, or forget the decision */
        put: operations["putGrants"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/views": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Tools of a server that have a view, as far as they were listed */
        get: operations["getViews"];
        put?: never;
        /** Read the view of a tool from its server, to be shown in a frame */
        post: operations["postViews"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/views/{view}/call": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Call a tool of a view's own server */
        post: operations["postViewsViewCall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/views/{view}/read": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Read a resource of a view's own server */
        post: operations["postViewsViewRead"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Long work of this start, newest first */
        get: operations["getOperations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How far long work is */
        get: operations["getOperationsId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operations/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask long work to stop */
        post: operations["postOperationsIdCancel"];
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
    "/api/v1/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Names of secrets, never their values */
        get: operations["getSecrets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/secrets/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Set a secret */
        put: operations["putSecretsName"];
        post?: never;
        /** Remove a secret */
        delete: operations["deleteSecretsName"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/access": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What commands may use besides, by project */
        get: operations["getAccess"];
        put?: never;
        /** Open a path or a machine to the commands of a project */
        post: operations["postAccess"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/access/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Take it back */
        delete: operations["deleteAccessId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/access/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What a command could touch and why, without running it */
        post: operations["postAccessExplain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clients": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Programs that ask over a connection of their own */
        get: operations["getClients"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clients/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A session of a program: what it may use, asked and called last */
        get: operations["getClientsId"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clients/seen": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A session was written down by its own process */
        post: operations["postClientsSeen"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clients/allow": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a program decide about its own calls */
        post: operations["postClientsAllow"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/clients/forget": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Forget a program, or one of its sessions */
        post: operations["postClientsForget"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Models */
        get: operations["getModels"];
        put?: never;
        /** Add a model */
        post: operations["postModels"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models/presets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Vendors that are known */
        get: operations["getModelsPresets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models/recognise": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What a pasted key or address belongs to; it is not stored */
        post: operations["postModelsRecognise"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models/detect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Look for model servers on this machine; nothing is added */
        post: operations["postModelsDetect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** One minimal call to a model that is not saved */
        post: operations["postModelsTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models/offered": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Chat models of a vendor or server, by its own list */
        post: operations["postModelsOffered"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask vendors what they say about the models */
        post: operations["postModelsRefresh"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One model */
        get: operations["getModelsId"];
        /** Change a model */
        put: operations["putModelsId"];
        post?: never;
        /** Remove a model */
        delete: operations["deleteModelsId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models/{id}/default": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make a model the default */
        post: operations["postModelsIdDefault"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** One minimal call */
        post: operations["postModelsIdTest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/models/{id}/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Forget what a person said about its facts */
        post: operations["postModelsIdReset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Agents */
        get: operations["getAgents"];
        put?: never;
        /** Make an agent */
        post: operations["postAgents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What an agent could do after a change, and what differs from now */
        post: operations["postAgentsPreview"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One agent */
        get: operations["getAgentsId"];
        /** Change an agent */
        put: operations["putAgentsId"];
        post?: never;
        /** Remove an agent */
        delete: operations["deleteAgentsId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{id}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Why an agent may or may not use each server, tool and prompt */
        get: operations["getAgentsIdExplain"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/grants/servers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Which agents may use each server */
        get: operations["getGrantsServers"];
        put?: never;
        /** Give a server or app to an agent, or take it back */
        post: operations["postGrantsServers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/acp/detect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Other agents on this machine; nothing is started to find out */
        get: operations["getAcpDetect"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/acp/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make an agent of another program */
        post: operations["postAcpAgents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/acp/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a chat has of an agent that is another program */
        get: operations["getAcpSessionsId"];
        put?: never;
        /** Choose a mode or an option of that agent */
        post: operations["postAcpSessionsId"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/land-configs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** land_configs */
        get: operations["getLandConfigs"];
        put?: never;
        /** Make a land_config */
        post: operations["postLandConfigs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/land-configs/schema": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** JSON Schema of a land_config */
        get: operations["getLandConfigsSchema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/land-configs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One land_config */
        get: operations["getLandConfigsId"];
        /** Replace a land_config */
        put: operations["putLandConfigsId"];
        post?: never;
        /** Remove a land_config nobody uses */
        delete: operations["deleteLandConfigsId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/land-configs/{id}/copy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Copy a land_config under another name */
        post: operations["postLandConfigsIdCopy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/system-prompts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Texts for models */
        get: operations["getSystemPrompts"];
        put?: never;
        /** Make a text */
        post: operations["postSystemPrompts"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/system-prompts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One text */
        get: operations["getSystemPromptsId"];
        /** Change a text */
        put: operations["putSystemPromptsId"];
        post?: never;
        /** Remove a text */
        delete: operations["deleteSystemPromptsId"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/system-prompts/{id}/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Give a built-in text back its own content */
        post: operations["postSystemPromptsIdReset"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/state/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take over the state of an older program */
        post: operations["postStateImport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/state/backup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Keep the whole state in a file */
        post: operations["postStateBackup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/state/prune": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Remove old finished runs */
        post: operations["postStatePrune"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/state/imports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What was taken over */
        get: operations["getStateImports"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/state-key": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The state key: its id and where it is kept */
        get: operations["getStateKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/state-key/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A new state key */
        post: operations["postStateKeyRotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/state-key/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Move the state key to the keychain or to a file */
        post: operations["postStateKeyMove"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dev": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is under development here, and where (`chatos dev` only) */
        get: operations["getDev"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dev/problems": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What `chatos plugin validate` says about the files as they are (`chatos dev` only) */
        get: operations["getDevProblems"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/dev/async-test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Write the result of a made-up task and wait for it as a tool call does (`chatos dev` only) */
        post: operations["postDevAsyncTest"];
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
            /**
             * @description The browser's own public key: an uncompressed point of P-256, base64url. With it the browser stays signed in;
             *     without it this is one session.
             */
            publicKey?: string | null;
            /** @description What the browser calls itself. */
            name?: string | null;
        };
        /** @description What a signed-in page sends from then on. */
        SignedIn: {
            /** @description `Authorization: Bearer <token>`. */
            token: string;
            expiresInMs: number;
            /** @description The browser, where it stays signed in. */
            browserId?: string | null;
        };
        /** @description Something to sign, once. */
        Challenge: {
            challenge: string;
            expiresInMs: number;
        };
        /** @description A browser that is signed in asks for a token, with its cookie. */
        Renew: {
            /** @description The first 32 hexadecimal digits of the SHA-256 of its public key. */
            browserId: string;
            challenge: string;
            /** @description ECDSA over P-256 and SHA-256 (r ‖ s, base64url) of the lines `chatos-renew-v1`, origin, browser ID, challenge. */
            sig: string;
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
        /** @description Browsers that are signed in. */
        BrowserList: {
            items: components["schemas"]["BrowserView"][];
        };
        /** @description A browser that is signed in. */
        BrowserView: {
            id: string;
            /** @description What it calls itself. */
            name: string;
            /** @description It is the one that asks. */
            current: boolean;
            createdAt: string;
            lastSeen: string;
            /** @description From where it was last seen; absent for this computer. */
            address?: string | null;
            /** @description When it has to sign in again if it is not used before. */
            expiresAt: string;
        };
        /** @description How many browsers were signed out. */
        BrowsersRevoked: {
            ok: boolean;
            revoked: number;
        };
        /** @description The running host. */
        Status: {
            /** @description Always true in an answer; `chatos status` says false when nobody answers. */
            running: boolean;
            version: string;
            pid: number;
            /** @description A moment, written as ISO 8601. */
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
            node?: components["schemas"]["NodeView"] | null;
            counts: components["schemas"]["StatusCounts"];
            /** @description The state cannot be written. */
            readOnly: boolean;
            notices: components["schemas"]["NoticeView"][];
        };
        /** @description The Node that plugins run with. */
        NodeView: {
            path: string;
            version: string;
        };
        /** @description Numbers for badges and the status line. */
        StatusCounts: {
            needsYou: number;
            results: number;
            /**
             * @description Questions put off for a while.
             * @default 0
             */
            snoozed?: number;
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
        DoctorReport: {
            /** @description No errors; warnings are allowed. */
            ok: boolean;
            checkedAt: string;
            findings: components["schemas"]["DoctorFinding"][];
        };
        /** @description One thing it looked at. */
        DoctorFinding: {
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
            source: components["schemas"]["ValueSource"];
            /** @description The flag or variable that decides it. */
            sourceName?: string | null;
            section: string;
            type: components["schemas"]["SettingType"];
            /** @description Takes effect at the next start. */
            restart: boolean;
            /** @description The value in force is less safe than the default. */
            weakensSafety: boolean;
            /** @description False while a flag or variable decides. */
            editable: boolean;
            /** @description A value that was ignored or brought into range. */
            warning?: string | null;
            label: components["schemas"]["TextPair"];
            description: components["schemas"]["TextPair"];
            updatedAt?: string | null;
        };
        /**
         * @description Where a value comes from, strongest first.
         * @enum {string}
         */
        ValueSource: "flag" | "env" | "setting" | "default";
        /** @description What may be entered. */
        SettingType: {
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
        TextPair: {
            zh: string;
            en: string;
        };
        /** @description A new value. */
        SettingValue: {
            value: unknown;
        };
        /** @description Is the chain of audit records whole? */
        AuditCheck: {
            ok: boolean;
            /** @description Records found in order. */
            records: number;
            /** @description The first bad place. */
            file?: string | null;
            line?: number | null;
            reason?: string | null;
        };
        /** @description A page of prompts. */
        PromptList: {
            /** @description Items; a large prompt comes without its bulk and with `partial: true`. */
            items: components["schemas"]["PromptView"][];
            nextCursor?: string | null;
            counts: components["schemas"]["PromptCounts"];
            /** @description What is wrong with the log. */
            problems: components["schemas"]["PromptHealth"];
            /**
             * @description With `facets=true`: how many open questions there are of each agent, project, client, chat, risk, kind and
             *     source, each as if the other filters stayed.
             */
            facets?: {
                [key: string]: components["schemas"]["PromptFacet"][];
            } | null;
        };
        /** @description A question with its answer, as lists and pages show it. */
        PromptView: {
            requestId: string;
            runId?: string | null;
            sessionId?: string | null;
            /** @description The other program that asks: a coding agent, an editor. */
            client?: components["schemas"]["PromptClient"] | null;
            ts: string;
            kind?: string | null;
            /** @description Asked through this host, or a line another program wrote. */
            class: components["schemas"]["PromptClass"];
            owner?: string | null;
            source?: string | null;
            title?: string | null;
            state: components["schemas"]["PromptState"];
            needsYou: boolean;
            /** @description A summary where the view is `partial` or `metadataOnly` or has a problem. */
            prompt: components["schemas"]["PromptForm"] | components["schemas"]["PromptSummary"];
            /** @description Too large for a list: the single item is complete. */
            partial: boolean;
            /** @description Content was not kept (minimal log mode). */
            metadataOnly: boolean;
            problem?: components["schemas"]["FieldProblem"] | null;
            raw?: string | null;
            warnings: components["schemas"]["FieldProblem"][];
            /** @description The digest of what the question shows. */
            shown?: string | null;
            shownRequired: boolean;
            effect?: string | null;
            /** @description What the host itself knows: what would be done, who asks, how much it can cost. */
            card?: components["schemas"]["PromptCard"] | null;
            expiresAt?: string | null;
            /**
             * @description Put off until then; null when it is not.
             * @default null
             */
            snoozedUntil?: string | null;
            /** @description What was approved was begun. */
            used: boolean;
            plainSecrets: boolean;
            canDecline: boolean;
            answer?: components["schemas"]["PromptAnswered"] | null;
            ignoredResponses: number;
            foreignResponses: number;
            positions: components["schemas"]["PromptPositions"];
            /** @description Answers that came after the one that counts; only on the single item. */
            ignoredLines?: components["schemas"]["PromptLine"][] | null;
            /** @description Answers other programs wrote; only on the single item. */
            foreignLines?: components["schemas"]["PromptLine"][] | null;
        };
        /** @description Another program that asks, as it names itself. */
        PromptClient: {
            id: string;
            /** @description `gateway`, `hook`, `acp_agent` or `acp_editor`. */
            kind: string;
            name: string;
            version?: string | null;
            /** @description What it calls its session. */
            label?: string | null;
            /** @description The folder it works in. */
            root?: string | null;
            /** @description The last part of that folder. */
            project?: string | null;
            /**
             * @description Tells apart programs of one name in one folder, from 1.
             * @default null
             */
            number?: number | null;
            /**
             * @description It said no name; this is that of its process.
             * @default false
             */
            unconfirmed?: boolean;
        };
        /** @description Who asked. */
        PromptClass: "served" | "foreign";
        /** @description Where a question stands. */
        PromptState: ("pending" | "closed") | "lost";
        /** @description A question that can be drawn and answered. */
        PromptForm: components["schemas"]["KvForm"] | components["schemas"]["ChoiceForm"] | components["schemas"]["TaskForm"] | components["schemas"]["ChangeForm"] | components["schemas"]["ResultForm"];
        /** @description `kv`: a form. */
        KvForm: {
            kind: components["schemas"]["KvWord"];
            title?: string | null;
            message?: string | null;
            /** @description Who asks, in its own words. */
            source?: string | null;
            /** @description Absent: it may be dismissed. */
            allowCancel?: boolean | null;
            /** @description 0: it waits for ever. */
            timeoutMs?: number | null;
            /** @description Questions that belong together, one after the other. */
            chain?: components["schemas"]["FormChain"] | null;
            /** @description The words in each language, where the host asks; as given where somebody else does. */
            words?: unknown;
            /** @description Which part of the text is here and which files nobody can show; as the asker gave it. */
            diffRef?: unknown;
            /** @description What a tool would be called with; as the asker gave it. */
            arguments?: unknown;
            /** @description The schema an MCP server asked with. */
            requestedSchema?: unknown;
            /** @description At least one, each key once. */
            fields: components["schemas"]["KvFormField"][];
        };
        /**
         * @description The word of its kind.
         * @enum {string}
         */
        KvWord: "kv";
        /** @description Where a question stands among those that follow one another. */
        FormChain: {
            id: string;
            /** @description From 1. */
            step: number;
            of?: number | null;
        };
        /** @description A field of a form. */
        KvFormField: {
            key: string;
            label?: string | null;
            description?: string | null;
            placeholder?: string | null;
            /** @description Never of a secret. */
            default?: string | null;
            required?: boolean | null;
            multiline?: boolean | null;
            secret?: boolean | null;
        };
        /** @description `choice`: a list. */
        ChoiceForm: {
            kind: components["schemas"]["ChoiceWord"];
            title?: string | null;
            message?: string | null;
            /** @description Who asks, in its own words. */
            source?: string | null;
            /** @description Absent: it may be dismissed. */
            allowCancel?: boolean | null;
            /** @description 0: it waits for ever. */
            timeoutMs?: number | null;
            /** @description Questions that belong together, one after the other. */
            chain?: components["schemas"]["FormChain"] | null;
            /** @description The words in each language, where the host asks; as given where somebody else does. */
            words?: unknown;
            /** @description Which part of the text is here and which files nobody can show; as the asker gave it. */
            diffRef?: unknown;
            /** @description What a tool would be called with; as the asker gave it. */
            arguments?: unknown;
            /** @description The schema an MCP server asked with. */
            requestedSchema?: unknown;
            multiple?: boolean | null;
            /** @description At least one, each value once. */
            options: components["schemas"]["ChoiceOption"][];
            default?: components["schemas"]["Chosen"] | null;
            /** @description A number where several may be chosen; means nothing otherwise. */
            minSelections?: unknown;
            /** @description A number where several may be chosen; means nothing otherwise. */
            maxSelections?: unknown;
            /** @description The page a person is asked to open; as the asker gave it. */
            url?: unknown;
        };
        /**
         * @description The word of its kind.
         * @enum {string}
         */
        ChoiceWord: "choice";
        /** @description One of a list. */
        ChoiceOption: {
            value: string;
            label?: string | null;
            description?: string | null;
        };
        /** @description One value, or several where several may be chosen. */
        Chosen: string | string[];
        /** @description `task_confirm`: tasks. */
        TaskForm: {
            kind: components["schemas"]["TaskConfirmWord"];
            title?: string | null;
            message?: string | null;
            /** @description Who asks, in its own words. */
            source?: string | null;
            /** @description Absent: it may be dismissed. */
            allowCancel?: boolean | null;
            /** @description 0: it waits for ever. */
            timeoutMs?: number | null;
            /** @description Questions that belong together, one after the other. */
            chain?: components["schemas"]["FormChain"] | null;
            /** @description The words in each language, where the host asks; as given where somebody else does. */
            words?: unknown;
            /** @description Which part of the text is here and which files nobody can show; as the asker gave it. */
            diffRef?: unknown;
            /** @description What a tool would be called with; as the asker gave it. */
            arguments?: unknown;
            /** @description The schema an MCP server asked with. */
            requestedSchema?: unknown;
            tasks: components["schemas"]["TaskDraft"][];
            defaultRemark?: string | null;
        };
        /**
         * @description The word of its kind.
         * @enum {string}
         */
        TaskConfirmWord: "task_confirm";
        /** @description A task to be agreed to; members besides these are kept. */
        TaskDraft: {
            draftId: string;
            title: string;
            details: string;
            priority: components["schemas"]["DraftPriority"];
            status: components["schemas"]["DraftStatus"];
            tags: string[];
        } & {
            [key: string]: unknown;
        };
        /**
         * @description How soon a task is wanted.
         * @enum {string}
         */
        DraftPriority: "high" | "medium" | "low";
        /**
         * @description Where a task stands.
         * @enum {string}
         */
        DraftStatus: "todo" | "doing" | "blocked" | "done";
        /** @description `file_change_confirm`: a difference or a command. */
        ChangeForm: {
            kind: components["schemas"]["FileChangeConfirmWord"];
            title?: string | null;
            message?: string | null;
            /** @description Who asks, in its own words. */
            source?: string | null;
            /** @description Absent: it may be dismissed. */
            allowCancel?: boolean | null;
            /** @description 0: it waits for ever. */
            timeoutMs?: number | null;
            /** @description Questions that belong together, one after the other. */
            chain?: components["schemas"]["FormChain"] | null;
            /** @description The words in each language, where the host asks; as given where somebody else does. */
            words?: unknown;
            /** @description Which part of the text is here and which files nobody can show; as the asker gave it. */
            diffRef?: unknown;
            /** @description What a tool would be called with; as the asker gave it. */
            arguments?: unknown;
            /** @description The schema an MCP server asked with. */
            requestedSchema?: unknown;
            path?: string | null;
            command?: string | null;
            cwd?: string | null;
            diff?: string | null;
            defaultRemark?: string | null;
        };
        /**
         * @description The word of its kind.
         * @enum {string}
         */
        FileChangeConfirmWord: "file_change_confirm";
        /**
         * @description `result`: the first of `markdown`, `result` and `content` that is a text, else the first that is an object or a
         *     list.
         */
        ResultForm: {
            kind: components["schemas"]["ResultWord"];
            title?: string | null;
            message?: string | null;
            /** @description Who asks, in its own words. */
            source?: string | null;
            /** @description Absent: it may be dismissed. */
            allowCancel?: boolean | null;
            /** @description 0: it waits for ever. */
            timeoutMs?: number | null;
            /** @description Questions that belong together, one after the other. */
            chain?: components["schemas"]["FormChain"] | null;
            /** @description The words in each language, where the host asks; as given where somebody else does. */
            words?: unknown;
            /** @description Which part of the text is here and which files nobody can show; as the asker gave it. */
            diffRef?: unknown;
            /** @description What a tool would be called with; as the asker gave it. */
            arguments?: unknown;
            /** @description The schema an MCP server asked with. */
            requestedSchema?: unknown;
            markdown?: unknown;
            result?: unknown;
            content?: unknown;
            mimeType?: string | null;
        };
        /**
         * @description The word of its kind.
         * @enum {string}
         */
        ResultWord: "result";
        /** @description What is left of a question without its content. */
        PromptSummary: {
            /** @description As written, also when it is none of the known kinds. */
            kind?: string | null;
            title?: string | null;
            source?: string | null;
            allowCancel?: boolean | null;
            path?: string | null;
            fieldCount?: number | null;
            optionCount?: number | null;
            multiple?: boolean | null;
            minSelections?: number | null;
            maxSelections?: number | null;
            taskCount?: number | null;
            textBytes?: number | null;
        };
        /** @description What is wrong with one member. */
        FieldProblem: {
            /** @description A JSON pointer. */
            path: string;
            code: string;
            message: string;
            hint?: string | null;
        };
        /** @description What the host knows of a question. */
        PromptCard: {
            verb: components["schemas"]["CardVerb"];
            /** @description A path, a tool, a host name; empty where the question itself says it. */
            object: string;
            /** @description Where it is moved to. */
            to?: string | null;
            /** @description How many of them. */
            count: number;
            risk: components["schemas"]["CardRisk"];
            /**
             * @description Why the risk is high.
             * @default []
             */
            reasons?: components["schemas"]["CardReason"][];
            /** @description The agent by the name people gave it. */
            agent?: string | null;
            /** @description The subagent that asks for it. */
            subAgent?: string | null;
            server?: string | null;
            tool?: string | null;
            /** @description Another program, as it calls itself. */
            client?: string | null;
            project?: components["schemas"]["CardProject"] | null;
            session?: components["schemas"]["CardSession"] | null;
            /** @description The app through which the run was started. */
            app?: string | null;
            /** @description The permissions profile in force. */
            profile?: string | null;
            sandbox?: components["schemas"]["CardSandbox"] | null;
            /** @description The questions it is asked together with. */
            group?: components["schemas"]["CardGroup"] | null;
            /** @description The person may change the command or the arguments before approving. */
            editable?: boolean;
            /** @description The person may reject it and have the run that asks end. */
            stops?: boolean;
        };
        /** @description What would be done. */
        CardVerb: ("run_command" | "send_input" | "create_file" | "edit_file" | "delete_file" | "move_file" | "change_files" | "use_tool" | "add_tasks" | "ask_model" | "open_page" | "go_over_budget" | "uncertain" | "use_folder") | "answer";
        /**
         * @description How much a yes can cost.
         * @enum {string}
         */
        CardRisk: "low" | "medium" | "high";
        /** @description Why a risk is high. */
        CardReason: ("no_sandbox" | "network" | "many_deleted") | "finding" | "protected_file" | "unknown" | "imitation" | "wide";
        /** @description The folder something is done in. */
        CardProject: {
            name: string;
            root: string;
        };
        /** @description The chat in which it was asked. */
        CardSession: {
            id: string;
            title: string;
        };
        /** @description What confines a command. */
        CardSandbox: {
            /** @description `full`, `fs` or `none`. */
            level: string;
            network: boolean;
        };
        /** @description Where a question stands among those of the same model answer. */
        CardGroup: {
            /** @description The same for all questions that are asked together. */
            id: string;
            /** @description From 0, in the order of the calls. */
            at: number;
            of: number;
        };
        /** @description The answer that counts. */
        PromptAnswered: {
            status: components["schemas"]["AnswerStatus"];
            ts: string;
            /** @description Null: answered by another program. */
            by?: string | null;
            verified: boolean;
            /** @description The host answered it itself. */
            auto: boolean;
            /** @description Of an answer that another program wrote, whatever that program wrote. */
            response: components["schemas"]["ResponseForm"];
        };
        /** @description How a question ended, as every reader understands it. */
        AnswerStatus: ("ok" | "canceled" | "timeout") | "error";
        /** @description What an answer says. */
        ResponseForm: {
            status: components["schemas"]["AnswerStatus"];
            /** @description Of a form, by key. */
            values?: {
                [key: string]: string;
            } | null;
            selection?: components["schemas"]["Chosen"] | null;
            tasks?: components["schemas"]["TaskDraft"][] | null;
            /** @description A note to whoever asked. */
            remark?: string | null;
            /** @description What the person wrote instead of what was asked. */
            edited?: components["schemas"]["EditedCall"] | null;
            /** @description The person agreed to content that no surface could show. */
            withoutSeeing?: boolean | null;
            /** @description The host answered it itself. */
            auto?: boolean | null;
            /** @description A no that was said, instead of a question that was put away. */
            declined?: boolean | null;
            /** @description The run that asked ends with it. */
            stop?: boolean | null;
            message?: string | null;
            code?: string | null;
            /** @description How many values there were, where the content was not kept. */
            valueCount?: number | null;
            selectionCount?: number | null;
            taskCount?: number | null;
            hasRemark?: boolean | null;
        };
        /** @description What a person wrote instead of what was asked: another command, or other arguments. */
        EditedCall: {
            command?: string | null;
            arguments?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description Where the lines stand in the log. */
        PromptPositions: {
            request?: number | null;
            response?: number | null;
        };
        /** @description A line of the log. */
        PromptLine: {
            offset: number;
            line: string;
        };
        /** @description What waits. */
        PromptCounts: {
            needsYou: number;
            results: number;
            /**
             * @description Put off for a while; not among `needsYou`.
             * @default 0
             */
            snoozed?: number;
        };
        /** @description What is wrong with the log. */
        PromptHealth: {
            unreadableLines: number;
            /** @description By fault. */
            lines: {
                [key: string]: components["schemas"]["PromptFaults"];
            };
            lockMissed: number;
            modeNarrowed: number;
            replaced: number;
            missing: boolean;
            unreadable?: string | null;
            unwritable?: string | null;
            lost: number;
            previous?: string | null;
        };
        /** @description Lines with one fault. */
        PromptFaults: {
            count: number;
            /** @description Of the first of them. */
            offsets: number[];
        };
        /** @description A value that questions are told apart by. */
        PromptFacet: {
            value: string;
            count: number;
        };
        /** @description A question. */
        PromptRequest: {
            /** @description By its kind; what is wrong with it is answered member by member. */
            prompt: components["schemas"]["PromptForm"];
            requestId?: string | null;
            runId?: string | null;
            /** @description `host:<built-in server>` or `app:<pluginId>/<appId>`; the person when absent. */
            owner?: string | null;
            /** @description `{pid, pidStart}` of the asking process. */
            origin?: components["schemas"]["AskerProcess"] | null;
            sessionId?: string | null;
            trace?: unknown;
            /**
             * @description `{name, material}`: what the answer decides and everything that decides it. The material is hashed into
             *     `shown`, not kept. Required for what the host itself does.
             */
            effect?: unknown;
        };
        /** @description The process that asks; its question is withdrawn when it is gone. */
        AskerProcess: {
            pid: number;
            pidStart: number;
            /** @description What started it; it may not answer either. */
            starter?: components["schemas"]["StarterProcess"] | null;
        };
        /** @description What started the process that asks. */
        StarterProcess: {
            pid: number;
            pidStart: number;
        };
        /** @description What asking gives. */
        PromptAsked: {
            ok: boolean;
            requestId: string;
            warnings: unknown[];
            /** @description False: recorded, but the log cannot be written right now. */
            mirrored: boolean;
            /** @description The same question was asked before; nothing was written. */
            repeated: boolean;
            /** @description The digest of what the question shows. */
            shown: string;
        };
        /** @description Lines of the text a question is about. */
        PromptText: {
            /** @description The first line given, counted from 0. */
            from: number;
            /** @description How many are given. */
            lines: number;
            /** @description How many there are. */
            total: number;
            text: string;
        };
        /** @description An answer. */
        PromptAnswer: {
            /** @description What is wrong with it is answered member by member. */
            response: components["schemas"]["ResponseForm"];
            /** @description The digest of what was displayed. */
            shown?: string | null;
            runId?: string | null;
            /** @description `cli` or `client`; otherwise known from the connection. */
            by?: string | null;
            /** @description `<pluginId>/<appId>`: the app answers its own question. */
            app?: string | null;
            /** @description The process that answers; no program answers what it asked itself. */
            pid?: number | null;
            /** @description With an approval: the rule that is kept for questions like this one, once the answer is recorded. */
            rule?: components["schemas"]["RuleOfPrompt"] | null;
        };
        /** @description A rule made from a question. */
        RuleOfPrompt: {
            /** @description `run`, `chat` or `project`. */
            scope: string;
            /** @description How many days it holds; 30 when absent. */
            days?: number | null;
            /** @description The person saw which of their earlier answers it differs from. */
            alsoDifferent?: boolean;
            /** @description For a tool of another server: whatever its arguments are. */
            anyArguments?: boolean;
        };
        /** @description What answering gives. */
        PromptRecorded: {
            ok: boolean;
            mirrored: boolean;
            /** @description The rule that was kept. */
            rule?: string | null;
            /** @description Why the rule was not kept; the answer is recorded all the same. */
            ruleFault?: string | null;
        };
        /** @description Until when a question is put off. */
        SnoozeOrder: {
            /** @description A moment to come, written as ISO 8601, at most 30 days away; absent: it is back at once. */
            until?: string | null;
        };
        /** @description Questions that are asked together. */
        PromptsTogether: {
            /** @description In the order of the calls; those that are answered are not among them. */
            items: components["schemas"]["PromptView"][];
            /** @description The digest over all that is shown. */
            shown: string;
        };
        /** @description One answer to questions that are asked together. */
        AnswerTogether: {
            /** @description As it was given with the questions. */
            shown: string;
            /** @description Those that are approved; the others are refused. */
            accepted: string[];
            /** @description A note to the agent. */
            remark?: string | null;
            /**
             * @description Nothing is approved, and the run that asks ends.
             * @default false
             */
            stop?: boolean;
            /** @description `cli` for a terminal. */
            by?: string | null;
            /** @description The process that answers. */
            pid?: number | null;
        };
        /** @description What became of each question. */
        AnsweredTogether: {
            /** @description The questions whose answer is recorded now. */
            done: string[];
            /** @description Not recorded, with why. */
            skipped: components["schemas"]["SkippedQuestion"][];
        };
        /** @description A question whose answer was not recorded. */
        SkippedQuestion: {
            id: string;
            code: string;
            message: string;
        };
        /** @description What one decision would be about. */
        BulkLook: {
            select: components["schemas"]["BulkSelect"];
            action: components["schemas"]["BulkAction"];
        };
        /** @description Which questions: these, or all that fit. */
        BulkSelect: {
            /** @default null */
            ids?: string[] | null;
            /** @default null */
            filter?: components["schemas"]["PromptFilter"] | null;
        };
        /** @description Which open questions an order is about; what is absent holds nothing back. */
        PromptFilter: {
            /** @default null */
            agent?: string | null;
            /**
             * @description The folder, or its last part.
             * @default null
             */
            project?: string | null;
            /**
             * @description Another program, as it names itself.
             * @default null
             */
            client?: string | null;
            /**
             * @description The id of the chat.
             * @default null
             */
            chat?: string | null;
            /**
             * @description `low`, `medium` or `high`.
             * @default null
             */
            risk?: string | null;
            /**
             * @description What it decides (`command`, `file_change`, `tool_approval`), or the kind of its form.
             * @default null
             */
            kind?: string | null;
            /** @default null */
            source?: string | null;
            /**
             * @description Words in title, command, path and names.
             * @default null
             */
            q?: string | null;
            /**
             * @description Those that are put off instead of those that are not.
             * @default null
             */
            snoozed?: boolean | null;
        };
        /** @description What is done with many questions at once. */
        BulkAction: ("reject" | "snooze") | "approve" | "read";
        /** @description What one decision would answer. */
        BulkPreview: {
            items: components["schemas"]["BulkItem"][];
            excluded: components["schemas"]["BulkLeft"][];
            /** @description Over the action and what each of them shows. */
            digest: string;
        };
        /** @description A question that would be answered. */
        BulkItem: {
            id: string;
            title: string;
            /** @description The command, what a tool would be called with, or the path. */
            about: string;
            kind?: string | null;
            risk?: string | null;
            shown?: string | null;
        };
        /** @description A question that would not. */
        BulkLeft: {
            id: string;
            reason: string;
            /** @description The same in words. */
            message: string;
        };
        /** @description One decision about many questions. */
        BulkOrder: {
            select: components["schemas"]["BulkSelect"];
            action: components["schemas"]["BulkAction"];
            /** @description As the preview gave it; where any of it changed since, nothing is answered. */
            digest: string;
            remark?: string | null;
            /** @description With `snooze`: a moment to come. */
            until?: string | null;
            /** @description `cli`; otherwise known from the connection. */
            by?: string | null;
            /** @description The process that answers; no program answers what it asked itself. */
            pid?: number | null;
        };
        /** @description What waiting gave. */
        PromptWait: {
            /** @constant */
            state: "pending";
        } | {
            /** @constant */
            state: "closed";
            response: components["schemas"]["ResponseForm"];
            by?: string | null;
            at: string;
            /** @description Values of secret fields can be taken once. */
            private: boolean;
        };
        /** @description Who withdraws a question or takes its private values. */
        PromptAsker: {
            /**
             * @description As it was given when asking; not needed in calls for an app.
             * @default
             */
            owner?: string;
            /** @description `aborted` or `asker_gone`. */
            code?: string | null;
            /** @description False: values of secret fields stay sealed and come masked. */
            secrets?: boolean | null;
        };
        /** @description The private values of an answer. */
        PromptTaken: {
            response: unknown;
        };
        /** @description What withdrawing gave. */
        PromptClosed: {
            ok: boolean;
            /** @description It was closed before. */
            already: boolean;
        };
        /** @description What somebody typed so far. */
        PromptDraft: {
            /** @description Null when there is none. */
            draft: unknown;
            updatedAt?: string | null;
        };
        /** @description How old an answer must be to be archived. */
        ArchiveOrder: {
            /** @description `30d`, or an ISO date; 30 days when absent. */
            before?: string | null;
        };
        /** @description What was archived. */
        PromptsArchived: {
            moved: number;
            kept: number;
            file?: string | null;
        };
        /** @description Entries: what is pending and the last 500 that are closed. */
        PromptEntries: {
            path: string;
            entries: unknown[];
        };
        /** @description Ids. */
        PromptIds: {
            ids: string[];
        };
        /** @description The log as a check finds it. */
        PromptCheck: {
            unreadableLines: number;
            /** @description By fault. */
            lines: {
                [key: string]: components["schemas"]["PromptFaults"];
            };
            lockMissed: number;
            modeNarrowed: number;
            replaced: number;
            missing: boolean;
            unreadable?: string | null;
            unwritable?: string | null;
            lost: number;
            previous?: string | null;
            path: string;
            bytes: number;
            counts: components["schemas"]["PromptCounts"];
            ok: boolean;
        };
        /** @description All rules of this state. */
        RuleList: {
            rules: components["schemas"]["RuleView"][];
        };
        /** @description One rule as it is listed. */
        RuleView: {
            id: string;
            /** @description The record; nothing where it was changed outside ChatOS, and so does not count. */
            rule?: {
                [key: string]: unknown;
            } | null;
            /** @description Its signature is that of this state. */
            ours: boolean;
            /** @description Its time is over. */
            ended: boolean;
            /** @description How often it answered. */
            uses: number;
            lastUsedAt?: string | null;
            createdAt: string;
        };
        /** @description A rule to keep, as `chatos.rules` has it. */
        NewRule: {
            rule: {
                [key: string]: unknown;
            };
            /**
             * @description It comes from elsewhere: it is kept paused.
             * @default false
             */
            imported?: boolean;
            /**
             * @description The person saw which of their earlier answers it differs from.
             * @default false
             */
            alsoDifferent?: boolean;
        };
        /** @description A rule that was kept, or would be. */
        RuleKept: {
            /** @description Nothing where it was only proposed. */
            id?: string | null;
            rule: {
                [key: string]: unknown;
            };
        };
        /** @description Whether a rule rests. */
        PauseRule: {
            paused: boolean;
            /**
             * @description The person saw which of their earlier answers it differs from.
             * @default false
             */
            alsoDifferent?: boolean;
        };
        /** @description What to try the rules on: a command, or a tool with its arguments. */
        TryRules: {
            /** @description A command as an agent would run it, sandboxed and without network. */
            command?: string | null;
            /** @description The server of the tool: its identity, or the name of a built-in one. */
            server?: string | null;
            /** @description The server's own name of the tool. */
            tool?: string | null;
            arguments?: {
                [key: string]: unknown;
            } | null;
            /** @description The real path of the project. */
            project: string;
            /** @description The agent that would call. */
            agent?: string | null;
            /** @description The chat it would call in. */
            chat?: string | null;
            /** @description In chats (`main`) or as a subagent (`sub`). */
            role?: string | null;
            /** @description The other program that would call, by its name. */
            client?: string | null;
        };
        /** @description What the rules would say. */
        RulesTried: {
            /** @description `allow`, `ask` or `deny`. */
            decision: string;
            /** @description Why somebody would be asked. */
            why: string;
            /** @description The rule that decides. */
            by?: string | null;
            /** @description The commands as they were read. */
            words: string[][];
            /** @description What stands between them. */
            joins: string[];
            /** @description Which file each program is; nothing where it is none that counts. */
            programs: (string | null)[];
            /** @description Why it is not made of literal words. */
            notLiteral?: string | null;
            /** @description Each rule with the first thing that did not fit. */
            rules: components["schemas"]["RuleLooked"][];
        };
        /** @description What became of one rule. */
        RuleLooked: {
            rule: string;
            name: string;
            failed?: string | null;
            /** @description The same in words. */
            why?: string | null;
        };
        /** @description A record to compare with past answers; nothing is kept. */
        BacktestRule: {
            rule: {
                [key: string]: unknown;
            };
        };
        /** @description How a rule compares with what the person said before. */
        RuleBacktest: {
            /** @description Past answers about the same tool. */
            considered: number;
            /** @description The rule would have said the same. */
            same: number;
            /** @description It would have said something else, or the person refused the same thing elsewhere. */
            different: number;
            /** @description The person would have been asked all the same. */
            stillAsked: number;
            /** @description Which questions those that differ are, newest first. */
            differentIds: string[];
            /** @description Those of them that were refused where the rule would hold: such a rule is not kept. */
            refusedIds: string[];
            /** @description All of it in one sentence. */
            sentence: string;
        };
        /** @description Rules that past answers suggest. */
        RuleProposals: {
            proposals: components["schemas"]["RuleProposal"][];
        };
        /** @description A rule that past answers suggest; it is not kept. */
        RuleProposal: {
            rule: {
                [key: string]: unknown;
            };
            /**
             * @description The same for all chats of the folder, where `rule` is for one chat.
             * @default null
             */
            wider?: {
                [key: string]: unknown;
            } | null;
            /** @description How many approvals suggest it. */
            count: number;
            firstAt: string;
            lastAt: string;
            /** @description Some of the calls, newest first. */
            examples: string[];
            backtest: components["schemas"]["RuleBacktest"];
        };
        /** @description What rules answered of late, newest first. */
        RuleUses: {
            uses: components["schemas"]["RuleUse"][];
        };
        /** @description A question that nobody was asked, because a rule answered it. */
        RuleUse: {
            /** @description The number of its audit record. */
            seq: number;
            at: string;
            rule: string;
            /** @description The rule's name as it was then. */
            name: string;
            /** @description The rule is still there and answers. */
            active: boolean;
            /** @description `allow` or `deny`. */
            decision: string;
            /** @description What the question would have been called. */
            title: string;
            /** @description The command or the path. */
            about: string;
            tool: string;
            /** @description The folder, by its real path. */
            project?: string | null;
            runId?: string | null;
            sessionId?: string | null;
            /** @description The changed file below the folder, where that is what it did: `changes` knows it. */
            path?: string | null;
        };
        /** @description All channels, the oldest one first. */
        ChannelList: {
            items: components["schemas"]["ChannelView"][];
        };
        /** @description A channel and how it fares. */
        ChannelView: {
            id: string;
            type: components["schemas"]["ChannelType"];
            name: string;
            /** @description Where to; of an address that is a key only the host. */
            url: string;
            /** @description A key is kept for it. */
            hasSecret: boolean;
            privacy: components["schemas"]["Privacy"];
            /** @description Seconds a question may take before this channel is told of it. */
            delay: number;
            /** @description Questions below this risk are not told. */
            minRisk: components["schemas"]["CardRisk"];
            /** @description Addresses of this computer and its network are meant. */
            onMyNetwork: boolean;
            /** @description What may be answered from there. */
            answer: components["schemas"]["Answering"];
            /** @description Who pressed Start, by the name they have there. */
            person?: string | null;
            /** @description How a person connects their chat, while that is waited for. */
            connect?: components["schemas"]["ChannelConnect"] | null;
            paused: boolean;
            state: components["schemas"]["ChannelState"];
            /** @description What went wrong last. */
            problem?: string | null;
            /** @description When it was told last. */
            lastSentAt?: string | null;
        };
        /** @description How a channel is reached. */
        ChannelType: ("slack" | "discord") | "desktop" | "ntfy" | "webhook" | "telegram";
        /** @description How much a channel is told. */
        Privacy: "count" | "tool" | "title" | "full";
        /** @description What may be answered from a channel. */
        Answering: "none" | "reject" | "direct";
        /** @description How a person connects their chat with a channel: the link, or the words to send to the bot. Good once. */
        ChannelConnect: {
            /** @description The bot, by its name. */
            bot: string;
            /** @description Opens the chat with a Start button. */
            url: string;
            /** @description What Start sends; may be typed as well. */
            text: string;
            /** @description Until when it is good. */
            expiresAt: string;
        };
        /** @description How a channel fares. */
        ChannelState: ("ok" | "paused") | "failing" | "unavailable" | "waiting";
        /** @description A channel to be. */
        NewChannel: {
            type: components["schemas"]["ChannelType"];
            name: string;
            /**
             * @description `https://…`; an ntfy address ends with the topic. Telegram needs none unless you have a Bot API server of your own.
             * @default
             */
            url?: string;
            /**
             * @description The token of a Telegram bot, the access token of ntfy, or the key that signs a webhook; kept as a secret.
             * @default null
             */
            secret?: string | null;
            /**
             * @description How much it is told; `tool` when absent.
             * @default null
             */
            privacy?: components["schemas"]["Privacy"] | null;
            /**
             * @description Seconds, 0 to 3600; 60 when absent.
             * @default null
             */
            delay?: number | null;
            /**
             * @description `low` when absent: every question is told.
             * @default null
             */
            minRisk?: components["schemas"]["CardRisk"] | null;
            /** @default false */
            onMyNetwork?: boolean;
            /**
             * @description What may be answered from there; `none` when absent.
             * @default null
             */
            answer?: components["schemas"]["Answering"] | null;
        };
        /** @description What is changed about a channel; what is absent stays. */
        ChannelPatch: {
            /** @default null */
            paused?: boolean | null;
            /** @default null */
            privacy?: components["schemas"]["Privacy"] | null;
            /** @default null */
            delay?: number | null;
            /** @default null */
            minRisk?: components["schemas"]["CardRisk"] | null;
            /** @default null */
            answer?: components["schemas"]["Answering"] | null;
        };
        /** @description Whether a person is at a page; then other channels keep silent. */
        PresenceOrder: {
            /** @description A name the page gave itself. */
            page: string;
            /** @description In view and used just now; false when it went out of sight. */
            visible: boolean;
        };
        /** @description A page of runs, newest first. */
        RunPage: {
            items: components["schemas"]["RunView"][];
            nextCursor?: string | null;
        };
        /** @description A run. */
        RunView: {
            id: string;
            kind: components["schemas"]["RunKind"];
            sessionId: string;
            agentId: string;
            landConfigId: string;
            subAgentId?: string | null;
            jobId?: string | null;
            parentRunId?: string | null;
            parentCallId?: string | null;
            rootRunId: string;
            role: components["schemas"]["Role"];
            modelId: string;
            /** @description The beginning of what was asked. */
            task: string;
            state: components["schemas"]["RunState"];
            stopReason?: components["schemas"]["RunEnd"] | null;
            error?: components["schemas"]["RunError"] | null;
            traceId: string;
            spanId: string;
            parentSpanId?: string | null;
            passes: number;
            createdAt: string;
            startedAt?: string | null;
            updatedAt: string;
            finishedAt?: string | null;
            usage?: components["schemas"]["UsageView"][] | null;
            /** @description Only when one run is read. */
            steps?: components["schemas"]["StepView"][] | null;
            /** @description Runs of subagents it started; only when one run is read. */
            children?: string[] | null;
        };
        /** @description Who began a run. */
        RunKind: "chat" | "sub" | "cli" | "client";
        /** @description Whether an agent answers a person or another agent. */
        Role: "main" | "sub";
        /** @description Where a run stands. */
        RunState: "queued" | "running" | "waiting_prompt" | "waiting_async" | "interrupted" | "done" | "failed" | "aborted" | "discarded";
        /** @description Why a run is not under way any more. */
        RunEnd: "end" | "length" | "content_filter" | "max_passes" | "max_tool_calls" | "max_minutes" | "repeating" | "budget" | "compacted" | "aborted" | "error" | "host_stopped";
        /** @description Why a run failed. */
        RunError: {
            code: string;
            message: string;
        };
        /** @description Tokens and money in one currency. */
        UsageView: {
            /** @description The model, the agent or the day. */
            key: string;
            name?: string | null;
            calls: number;
            input: number;
            output: number;
            cacheRead: number;
            cacheWrite: number;
            /** @description Some of it was counted by us. */
            estimated: boolean;
            /** @description The known part; absent when nothing is known. */
            cost?: number | null;
            currency?: string | null;
            /** @description Calls whose cost nobody knows. */
            unknownCost: number;
        };
        /** @description A step of a run. */
        StepView: {
            seq: number;
            kind: components["schemas"]["StepKind"];
            spanId: string;
            parentSpanId: string;
            state: components["schemas"]["StepState"];
            callId?: string | null;
            server?: string | null;
            /** @description What people call it, while it is there. */
            serverName?: string | null;
            tool?: string | null;
            readOnly: boolean;
            idempotent: boolean;
            attempt: number;
            status?: string | null;
            code?: string | null;
            elapsedMs?: number | null;
            startedAt?: string | null;
            finishedAt?: string | null;
            childRunId?: string | null;
            requestId?: string | null;
            taskId?: string | null;
            /** @description Without secrets, and cut to a size that can be shown. */
            input?: unknown;
            /** @description Without secrets, and cut to a size that can be shown. */
            output?: unknown;
            /** @description Bytes before cutting. */
            sizes?: components["schemas"]["Sizes"] | null;
            usage?: unknown;
        };
        /** @description What a step of a run is. */
        StepKind: "model" | "tool" | "prompt" | "sub" | "compact" | "correction" | "resume";
        /** @description Where a step of a run stands. */
        StepState: "planned" | "sent" | "done" | "uncertain" | "skipped";
        /** @description Bytes that went in and came out. */
        Sizes: {
            input: number;
            output: number;
        };
        /** @description A correction of a run under way. */
        Correction: {
            text: string;
            /**
             * @description Also ends the tool call that runs.
             * @default false
             */
            abortCall?: boolean;
        };
        /** @description The message of a correction. */
        Corrected: {
            ok: boolean;
            messageId: string;
        };
        /** @description Where to branch. */
        BranchOrder: {
            /** @description The number of a step. */
            step: number;
        };
        /** @description A chat. */
        SessionView: {
            id: string;
            title: string;
            agentId: string;
            modelId?: string | null;
            workspaceRoot: string;
            pinned: boolean;
            archivedAt?: string | null;
            createdAt: string;
            updatedAt: string;
            lastMessageAt?: string | null;
            /** @description A run of it is under way. */
            running: boolean;
            /** @description The run that is under way, or the one that was interrupted. */
            run?: components["schemas"]["RunBrief"] | null;
            branchedFromRun?: string | null;
            /** @description When it was read from a file. Such a chat is only read; a fork of it goes on. */
            importedAt?: string | null;
            /** @description The plugin whose app made it. */
            madeBy?: string | null;
            /** @description The question whether the app may work in the folder it wished for; only in the answer to making it. */
            pendingRoot?: string | null;
            /** @description What it used, where that was asked for. */
            usage?: components["schemas"]["UsageView"][] | null;
        };
        /** @description A run as its chat shows it. */
        RunBrief: {
            id: string;
            state: components["schemas"]["RunState"];
            /** @description Absent while it waits for its turn. */
            startedAt?: string | null;
            traceId: string;
            /** @description Why it is not under way any more. */
            reason?: components["schemas"]["RunEnd"] | null;
        };
        /** @description A trace: all spans of all its runs. */
        TraceView: {
            traceId: string;
            spans: components["schemas"]["SpanView"][];
        };
        /** @description A span of a trace. */
        SpanView: {
            spanId: string;
            parentSpanId?: string | null;
            /** @description `run`, `model`, `tool`, `prompt`, `compact`, `correction` or `resume`. */
            kind: string;
            name: string;
            server?: string | null;
            /** @description What people call it, while it is there. */
            serverName?: string | null;
            tool?: string | null;
            callId?: string | null;
            runId: string;
            startedAt?: string | null;
            finishedAt?: string | null;
            durationMs?: number | null;
            status: string;
            code?: string | null;
            sizes?: components["schemas"]["Sizes"] | null;
            usage?: unknown;
            /** @description The nine fields (agents §12). */
            trace: unknown;
            /** @description Ids of the spans below it, in order. */
            children?: string[];
        };
        /** @description Sums of tokens and money. */
        UsageList: {
            items: components["schemas"]["UsageView"][];
        };
        /** @description A page of chats. */
        SessionList: {
            items: components["schemas"]["SessionView"][];
            nextCursor?: string | null;
        };
        /** @description A chat to make. */
        SessionOrder: {
            /** @default null */
            title?: string | null;
            /**
             * @description The first agent when absent.
             * @default null
             */
            agentId?: string | null;
            /** @default null */
            modelId?: string | null;
            /** @default null */
            workspaceRoot?: string | null;
        };
        /** @description A folder for trying things out. */
        Scratch: {
            path: string;
        };
        /** @description A chat in a file, as `chatos-chat/1`. */
        ChatImport: {
            /**
             * @description All of the file, as it was exported.
             * @default
             */
            text?: string;
        };
        /** @description Places where a text occurs. */
        SearchResults: {
            items: components["schemas"]["SearchHit"][];
        };
        /** @description A place where a searched text occurs. */
        SearchHit: {
            sessionId: string;
            sessionTitle: string;
            messageId: string;
            seq: number;
            role: components["schemas"]["MessageRole"];
            /** @description The text around the place. */
            excerpt: string;
            createdAt: string;
        };
        /** @description Who speaks in a message. */
        MessageRole: "user" | "assistant" | "tool" | "system";
        /** @description What may change in a chat. */
        SessionChange: {
            /** @default null */
            title?: string | null;
            /** @default null */
            agentId?: string | null;
            /**
             * @description Empty: as the agent says.
             * @default null
             */
            modelId?: string | null;
            /** @default null */
            workspaceRoot?: string | null;
            /** @default null */
            pinned?: boolean | null;
            /** @default null */
            archived?: boolean | null;
        };
        /** @description A page of messages. */
        MessagePage: {
            /** @description Oldest first. */
            messages: components["schemas"]["MessageView"][];
            hasMore: boolean;
            summaries: components["schemas"]["SummaryView"][];
        };
        /** @description A message. */
        MessageView: {
            id: string;
            sessionId: string;
            runId?: string | null;
            seq: number;
            role: components["schemas"]["MessageRole"];
            kind: components["schemas"]["MessageKind"];
            content: string;
            reasoning?: string | null;
            attachments?: components["schemas"]["AttachmentView"][];
            toolCalls?: components["schemas"]["ToolCallView"][];
            toolCallId?: string | null;
            toolName?: string | null;
            server?: string | null;
            /** @description The server's own name of the tool. */
            tool?: string | null;
            status?: string | null;
            code?: string | null;
            toolIsError?: boolean | null;
            toolStructuredContent?: unknown;
            elapsedMs?: number | null;
            /** @description Not complete: still coming, or stopped. */
            partial: boolean;
            /** @description Tokens of the answer's model call. */
            usage?: unknown;
            /** @description The messages that were said in this place, oldest first, this one among them; absent where there is only one. */
            versions?: string[];
            createdAt: string;
        };
        /** @description What a message is among those of its role. */
        MessageKind: "normal" | "correction" | "notice";
        /** @description A file beside a message. */
        AttachmentView: {
            id: string;
            name: string;
            mime: string;
            size: number;
            url: string;
            /** @description What to know about the text of a document. */
            note?: components["schemas"]["AttachmentNote"] | null;
            /** @description Where it comes from, when that is not the person's own machine: the MCP server that gave it. */
            origin?: string;
        };
        /** @description What to know about the text of a document. */
        AttachmentNote: "scanned" | "pages" | "rows" | "cut" | "name_only";
        /** @description A call an answer asked for. */
        ToolCallView: {
            callId: string;
            name: string;
            server: string;
            tool: string;
            /** @description Without secrets, and cut to a size that can be shown. */
            args: string;
        };
        /** @description A summary that stands for a part of a chat in the model's context. */
        SummaryView: {
            id: string;
            fromSeq: number;
            toSeq: number;
            text: string;
            tokensBefore?: number | null;
            tokensAfter?: number | null;
            /** @description `summary`, `overflow` (the vendor refused a longer request) or `mechanical` (no model made one). */
            kind: string;
            /** @description How many messages it stands for; 0 where an older program did not count. */
            messages: number;
        };
        /** @description A batch of events. */
        EventBatch: {
            /** @description As agents §11 has them, in order. */
            events: unknown[];
            /** @description Ask for those after this one next. */
            next: number;
            /** @description Some were missed: read the messages again. */
            resync: boolean;
        };
        /** @description A message to send. */
        SendOrder: {
            /** @default  */
            text?: string;
            /** @default [] */
            attachments?: components["schemas"]["Attachment"][];
            /** @default null */
            agentId?: string | null;
            /**
             * @description The model of the chat from this message on.
             * @default null
             */
            modelId?: string | null;
            /**
             * @description The model that answers this one message; the chat keeps its own.
             * @default null
             */
            answerBy?: string | null;
            /** @default null */
            mode?: components["schemas"]["SendMode"] | null;
            /**
             * @description The id the message gets, a UUID of the sender's. Sent again with the same one, it is kept once and the answer
             *     is that of the first time.
             * @default null
             */
            clientMessageId?: string | null;
            /**
             * @description The message of the person in whose place this one is said. That one and what followed it are left: kept, not
             *     shown, not sent to models; `select` brings them back. Without files of its own it has those of that one.
             * @default null
             */
            replaces?: string | null;
            /**
             * @description Texts of the project: `ask` where a person can be asked about them. Absent: only what was decided before.
             * @default null
             */
            instructions?: components["schemas"]["InstructionOrder"] | null;
            /**
             * @description How much the model thinks about this message: `low`, `medium`, `high`, or another word of its list. Absent: as the
             *     model says.
             * @default null
             */
            effort?: string | null;
        };
        /** @description A file of a message. */
        Attachment: {
            /** @default  */
            name?: string;
            /** @default  */
            mime?: string;
            /**
             * @description Base64.
             * @default null
             */
            data?: string | null;
            /**
             * @description `data:<mime>;base64,…`.
             * @default null
             */
            dataUrl?: string | null;
            /**
             * @description A document goes without its text: models get its name alone. For one that cannot be read (`extract_failed`).
             * @default false
             */
            nameOnly?: boolean;
            /** @description Where it comes from, when that is not the person's own machine: the MCP server that gave it. */
            origin?: string | null;
        };
        /** @description What to do when a run is under way. */
        SendMode: "queue" | "steer" | "replace";
        /** @description What a message says about the texts of its project. */
        InstructionOrder: "ask" | "use" | "skip";
        /** @description What became of it. */
        Sent: {
            runId: string;
            userMessageId: string;
            /** @description The message the answer will be in; of a correction, none. */
            assistantMessageId?: string | null;
            /** @description It waits for its turn. */
            queued: boolean;
        };
        /** @description A version of a message that was deleted, or would be. */
        VersionDeleted: {
            /** @description False where nothing was asked for but to look. */
            deleted: boolean;
            /** @description Messages and replies that go with it, itself included. */
            messages: number;
            /** @description Other versions of the message, which stay. */
            others: number;
        };
        /** @description A summary that is to be made. */
        CompactOrder: {
            /**
             * @description What to keep in it, in a person's words.
             * @default
             */
            instructions?: string;
        };
        /** @description Whether a summary was made. */
        Compacted: {
            ok: boolean;
            /** @description False while a run is under way: it is made before its next step. */
            made: boolean;
        };
        /** @description A chat as a file, without secrets. */
        ChatFile: {
            /** @description A name every system takes. */
            name: string;
            mime: string;
            text: string;
        };
        /** @description Everything a person can type behind `/`, in the order in which names are decided. */
        CommandList: {
            items: components["schemas"]["CommandView"][];
            /** @description Servers that have not told their prompts yet; ask again for them. */
            late: string[];
            /** @description Files that are no command, each with its reason. */
            problems: string[];
        };
        /** @description One command as a list shows it. */
        CommandView: {
            /** @description What is typed behind `/`: the bare name, or the key where another command has that name. */
            name: string;
            /**
             * @description The name that no other command has: the word of a built-in one, `cmd:user:<name>`, `cmd:project:<name>`, or that
             *     of a skill or prompt: `project:<skill>`, `user:<skill>`, `<server>:<prompt>`, `app:<plugin>/<app>`.
             */
            key: string;
            kind: components["schemas"]["CommandKind"];
            /** @description For people; empty when there is none. */
            title: string;
            description: string;
            /** @description What may be typed behind the name, such as `[file]`. */
            argumentHint: string;
            /** @description What a prompt is filled with; empty for the other kinds. */
            arguments: components["schemas"]["CommandArgument"][];
            /** @description Where it comes from: `chatos`, `user`, `project`, or the name of the server or plugin. */
            source: string;
        };
        /** @description What a command is. */
        CommandKind: "builtin" | "text" | "skill" | "prompt" | "app";
        /** @description An argument of a prompt. */
        CommandArgument: {
            name: string;
            description: string;
            required: boolean;
        };
        /** @description A command to be filled. */
        FillOrder: {
            /**
             * @description The chat in which it is typed.
             * @default null
             */
            session?: string | null;
            /**
             * @description The agent of a chat that does not exist yet.
             * @default null
             */
            agent?: string | null;
            /**
             * @description What was typed, from the `/` on.
             * @default
             */
            text?: string;
            /**
             * @description Arguments of a prompt from a form, instead of those behind its name.
             * @default null
             */
            arguments?: {
                [key: string]: string;
            } | null;
        };
        /** @description What a command says; nothing was sent. */
        Filled: {
            kind: components["schemas"]["CommandKind"];
            key: string;
            /** @description What the message says. */
            text: string;
            /** @description Files of the workspace that the text of the person's own command names with `@`. */
            mentions: string[];
            /** @description What a person should know about the text, in the language asked for. */
            notices: string[];
            /** @description Files that go along with the message. */
            files?: components["schemas"]["Attachment"][];
            /** @description The model that the command wants to answer it, by id; for `answerBy` of the message. */
            answerBy?: string | null;
        };
        /** @description An argument that is being typed. */
        CompleteOrder: {
            /**
             * @description The chat in which it is typed.
             * @default null
             */
            session?: string | null;
            /**
             * @description The agent of a chat that does not exist yet.
             * @default null
             */
            agent?: string | null;
            /**
             * @description The key of the prompt it belongs to; of a template of resources `@<server>:<address with places>`.
             * @default
             */
            key?: string;
            /** @default  */
            argument?: string;
            /**
             * @description What is typed so far.
             * @default
             */
            value?: string;
            /**
             * @description The other arguments as far as they are filled.
             * @default {}
             */
            arguments?: {
                [key: string]: string;
            };
        };
        /** @description Values a server suggests for an argument. */
        Completions: {
            /** @description At most 100 of them. */
            values: string[];
            /** @description The server knows others, too. */
            more: boolean;
        };
        /** @description A person's own commands, as a page edits them. */
        OwnCommands: {
            items: components["schemas"]["OwnCommand"][];
            /** @description Where their files lie. */
            folder: string;
            /** @description Files that are no command, each with its reason. */
            problems: string[];
        };
        /** @description One command of the person, with the whole file. */
        OwnCommand: {
            name: string;
            description: string;
            /** @description The whole file, with its front matter. */
            text: string;
        };
        /** @description The new text of a command. */
        OwnCommandText: {
            text: string;
        };
        /** @description What matches: files of the workspace, the best first, at most 50; then resources of servers, at most 50. */
        MentionList: {
            items: components["schemas"]["MentionView"][];
            /** @description The workspace is too large to have been searched to its end. */
            partial: boolean;
            /** @description Servers that have not told their resources yet; ask again for them. */
            late?: string[];
        };
        /** @description A file, a folder or a resource. */
        MentionView: {
            /**
             * @description What is typed behind `@`: a path relative to the workspace, of a folder with `/` at its
             *     end; of a resource `<server>:<address>`.
             */
            path: string;
            /** @description Absent for a file. */
            kind?: components["schemas"]["MentionKind"];
            /** @description What people call a resource; absent where it has no other name. */
            title?: string;
            /** @description What a resource is, as its server says. */
            description?: string;
            /** @description The server of a resource. */
            source?: string;
        };
        /** @description What stands behind an `@`. */
        MentionKind: "file" | "resource" | "template";
        /** @description Files and resources to be read for a message. */
        MentionOrder: {
            /**
             * @description The chat in which it is typed.
             * @default null
             */
            session?: string | null;
            /**
             * @description The agent of a chat that does not exist yet.
             * @default null
             */
            agent?: string | null;
            /**
             * @description Relative to the workspace; of a resource `<server>:<address>`.
             * @default []
             */
            paths?: string[];
        };
        /** @description The files and resources as a message carries them. */
        MentionedFiles: {
            files: components["schemas"]["Attachment"][];
            /** @description Paths at which there is nothing. */
            missing: string[];
        };
        /** @description The texts of a project, as they would go with a message now. */
        InstructionsView: {
            /** @description The project: the repository around the workspace, else the workspace. Empty where no project can be. */
            root: string;
            /** @description What the person said about this project; absent when nobody was asked yet. */
            consent?: components["schemas"]["InstructionConsent"] | null;
            /** @description Files in the order of their texts. */
            files: components["schemas"]["InstructionFile"][];
            /** @description Such files below the workspace: named to the model, not read. */
            nested: string[];
            /** @description Skills of the project, which the same word allows. */
            skills: number;
            /** @description Commands of the project, as above. */
            commands: number;
            /** @description What goes with the next message; empty when nothing does. */
            text: string;
            /** @description Of a chat: what went with a message last, byte for byte; empty when nothing did. */
            sent: string;
        };
        /** @description A person's word about the texts of a project. */
        InstructionConsent: "use" | "skip";
        /** @description One file that was looked at. */
        InstructionFile: {
            /** @description Relative to the project's root; the person's own file with its whole path. */
            path: string;
            /** @description It is the person's own file, for every project. */
            own: boolean;
            state: components["schemas"]["InstructionState"];
            /** @description Size of the file. */
            bytes: number;
            /** @description Bytes of its text that are sent. */
            sent: number;
            /** @description Why it is not sent, or what of it stays as it is written. */
            reason?: string | null;
        };
        /** @description What becomes of an instruction file. */
        InstructionState: "used" | "shadowed" | "cut" | "not_consented" | "unreadable";
        /** @description A person's word about a project. */
        ConsentOrder: {
            /**
             * @description A folder on this machine.
             * @default null
             */
            root?: string | null;
            /**
             * @description A chat; its workspace counts.
             * @default null
             */
            session?: string | null;
            /**
             * @description The agent of a chat that does not exist yet.
             * @default null
             */
            agent?: string | null;
            /**
             * @description Absent: nothing is decided, the next message asks.
             * @default null
             */
            consent?: components["schemas"]["InstructionConsent"] | null;
        };
        /** @description The catalogue, and what could not be read. */
        SubagentCatalogue: {
            plugins: components["schemas"]["SubPlugin"][];
            problems: string[];
        };
        /** @description A plugin of subagents. */
        SubPlugin: {
            /** @default  */
            id?: string;
            /** @default  */
            name?: string;
            /** @default  */
            description?: string;
            /** @default  */
            category?: string;
            /** @default true */
            enabled?: boolean;
            /**
             * @description `builtin` or `user`.
             * @default
             */
            source?: string;
            /** @default [] */
            agents?: components["schemas"]["SubAgent"][];
            /** @default [] */
            skills?: components["schemas"]["SubSkill"][];
            /** @default [] */
            commands?: components["schemas"]["SubCommand"][];
        };
        /** @description One agent of it. */
        SubAgent: {
            /** @default  */
            id?: string;
            /** @default  */
            name?: string;
            /** @default  */
            description?: string;
            /** @default null */
            model?: string | null;
            /** @default null */
            reasoning?: boolean | null;
            /** @default  */
            system?: string;
            systemPromptPath?: string;
            /** @default [] */
            skills?: string[];
            /** @default [] */
            defaultSkills?: string[];
            /** @default null */
            defaultCommand?: string | null;
        };
        /** @description A text an agent works by. */
        SubSkill: {
            /** @default  */
            id?: string;
            /** @default  */
            name?: string;
            /** @default  */
            description?: string;
            /** @default  */
            instructions?: string;
            instructionsPath?: string;
        };
        /** @description A way to ask an agent for one thing. */
        SubCommand: {
            /** @default  */
            id?: string;
            /** @default  */
            name?: string;
            /** @default  */
            description?: string;
            /** @default  */
            instructions?: string;
            instructionsPath?: string;
            /** @default null */
            model?: string | null;
            /** @default null */
            reasoning?: boolean | null;
        };
        /** @description A folder to take subagents from. */
        SubImportOrder: {
            path: string;
            /**
             * @description Write it into the catalogue.
             * @default false
             */
            apply?: boolean;
            /** @description What was shown; a folder that changed since is refused. */
            digest?: string | null;
        };
        /** @description What a folder holds, and whether it was taken. */
        SubImport: {
            /** @description As it is, or would be, in the catalogue. */
            plugin: components["schemas"]["SubPlugin"];
            /** @description What was read. */
            files: string[];
            /** @description What was left out, and why. */
            warnings: string[];
            /** @description Names exactly these bytes. */
            digest: string;
            /** @description It is in the catalogue now. */
            imported: boolean;
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
            notes: components["schemas"]["TaskNote"][];
        };
        /** @description A remark on a task. */
        TaskNote: {
            /** @description `note` or `completion`. */
            kind: string;
            text: string;
            createdAt: string;
        };
        /** @description A task to be made. */
        TaskInput: {
            title: string;
            /** @default  */
            details?: string;
            /** @default medium */
            priority?: string;
            /** @default todo */
            status?: string;
            /** @default [] */
            tags?: string[];
            /** @default default */
            scope?: string;
            /** @default  */
            sessionId?: string;
            /** @default  */
            runId?: string;
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
        TaskCompletion: {
            note: string;
        };
        /** @description Which tasks go. */
        TaskClearing: {
            /** @description `done` or `all`. */
            mode: string;
            /** @default  */
            scope?: string;
            /** @default  */
            sessionId?: string;
            /** @default  */
            runId?: string;
        };
        /** @description What clearing did. */
        TasksCleared: {
            cleared: number;
            remaining: number;
        };
        /** @description A page of changes. */
        FileChangeList: {
            changes: components["schemas"]["FileChangeView"][];
            /** @description For `before` of the next page. */
            next?: string | null;
        };
        /** @description A change of one file. */
        FileChangeView: {
            id: string;
            runId: string;
            sessionId: string;
            userMessageId: string;
            server: string;
            tool: string;
            /** @description The directory the tool worked in. */
            root: string;
            /** @description Relative to the root, after the change. */
            path: string;
            /** @description The path before a move. */
            from?: string | null;
            /** @description `created`, `modified`, `deleted` or `moved`. */
            change: string;
            before: components["schemas"]["FileContent"];
            after: components["schemas"]["FileContent"];
            /** @description Counted in lines. */
            added: number;
            /** @description Counted in lines. */
            removed: number;
            createdAt: string;
            /** @description The change that undid this one and is in force. */
            undoneBy?: string | null;
            /** @description The changes this one undid. */
            undoes: string[];
        };
        /** @description A content before or after a change. */
        FileContent: {
            /**
             * @description `absent`: no file; `kept`; `omitted`: too large, only its digest; `lost`: not known or not there any
             *     more.
             */
            state: string;
            sha256?: string | null;
            size?: number | null;
        };
        /** @description A change with its diff. */
        FileChangeDetail: {
            change: components["schemas"]["FileChangeView"];
            /** @description Unified; the contents can be downloaded. */
            diff: string;
            diffTruncated: boolean;
            undo: components["schemas"]["UndoState"];
        };
        /** @description Whether a change can be undone as the file is now. */
        UndoState: {
            possible: boolean;
            /** @description Why not, for programs. */
            code?: string | null;
            /** @description Why not. */
            reason?: components["schemas"]["TextPair"] | null;
            /** @description What helps. */
            hint?: components["schemas"]["TextPair"] | null;
        };
        /** @description What to undo: `ids`, or every change of a run. */
        UndoRequest: {
            /** @default [] */
            ids?: string[];
            /** @default null */
            runId?: string | null;
            /**
             * @description Only say what would happen.
             * @default false
             */
            dryRun?: boolean;
        };
        /** @description What an undo did. */
        UndoAnswer: {
            steps: components["schemas"]["UndoneFile"][];
            /** @description The records of the undo; none for a dry run. */
            changes: components["schemas"]["FileChangeView"][];
            /** @description `hard_links: …`, `change_not_recorded: …` and so on. */
            warnings: string[];
        };
        /** @description One file of an undo. */
        UndoneFile: {
            root: string;
            path: string;
            /** @description `restored`, `removed`, `recreated` or `moved_back`. */
            action: string;
            /** @description The changes that are undone by it. */
            changes: string[];
        };
        /** @description All servers, or the tools of an agent. */
        ToolServers: {
            /** @description Built-in servers; empty when an agent is asked for. */
            servers: components["schemas"]["ToolServer"][];
            /** @description With `agent`: every tool, granted or not, with the reason. */
            tools?: components["schemas"]["ToolsetView"][] | null;
            /** @description With `agent`: servers that did not start, tools that were left out. */
            problems?: components["schemas"]["ToolsetProblem"][] | null;
        };
        /** @description A server and its tools. */
        ToolServer: {
            name: string;
            /** @description The fixed id that land_configs refer to. */
            id: string;
            title: string;
            instructions: string;
            /** @description Its tools work inside a root directory. */
            needsRoot: boolean;
            tools: components["schemas"]["ToolView"][];
        };
        /** @description A tool as its server lists it. */
        ToolView: {
            name: string;
            title: string;
            description: string;
            annotations: components["schemas"]["ToolHints"];
            /** @description Which question a person may be asked first: `none`, `file_change`, `task` or `shell`. */
            confirm: string;
            version: number;
            /** @description JSON Schema of the arguments; only when one server is asked for. */
            inputSchema?: unknown;
            /** @description JSON Schema of `structuredContent`; only when one server is asked for. */
            outputSchema?: unknown;
        };
        /** @description Hints for clients. */
        ToolHints: {
            title: string;
            readOnlyHint: boolean;
            destructiveHint: boolean;
            idempotentHint: boolean;
            openWorldHint: boolean;
        };
        /** @description A tool of a set as pages show it. */
        ToolsetView: {
            /** @description What a model calls. */
            name: string;
            identity: string;
            server: string;
            tool: string;
            title?: string | null;
            description: string;
            granted: boolean;
            /** @description A person is asked before each call. */
            ask: boolean;
            /**
             * @description It changes nothing, and its word for that counts.
             * @default false
             */
            readOnly?: boolean;
            /** @description Why it is not granted. */
            code?: string | null;
            why?: string | null;
            inputSchema?: unknown;
            /** @description Hints of its server, as they are. */
            annotations?: unknown;
            /** @description What else its server says of it, where that was asked for. */
            told?: components["schemas"]["ToolTold"] | null;
        };
        /** @description What a server says of a tool that no model reads, for clients it is passed on to. */
        ToolTold: {
            /** @description What it does, in full and in the server's own words. */
            description: string;
            /** @description JSON Schema of `structuredContent`. */
            outputSchema?: unknown;
            /** @description Its pictures, as MCP has them. */
            icons?: unknown;
            /** @description What else the server attached. */
            _meta?: unknown;
        };
        /** @description Something a person should know about an agent's tools. */
        ToolsetProblem: {
            server: string;
            tool?: string | null;
            code: string;
            message: string;
            stderr: string[];
        };
        /** @description A call of one tool. */
        CallInput: {
            /**
             * @description Arguments as the schema of the tool has them.
             * @default null
             */
            arguments?: unknown;
            /**
             * @description `_meta` of the call: runId, sessionId, workdir and so on.
             * @default {}
             */
            meta?: {
                [key: string]: unknown;
            };
            /**
             * @description Names the chat the call belongs to, for fair queueing.
             * @default
             */
            session?: string;
            /**
             * @description The directory the tool works in; the host's project when absent.
             * @default null
             */
            root?: string | null;
            /**
             * @description The call is made for another program: `root` is its folder, and without one tools that work in a
             *     folder are refused.
             * @default false
             */
            forClient?: boolean;
            /**
             * @description Names the call for cancelling and in the log; made up when absent.
             * @default null
             */
            callId?: string | null;
            /**
             * @description Call as this agent would (its grants, its questions); id or name.
             * @default null
             */
            agent?: string | null;
            /**
             * @description The question this call asked before the host stopped: the same question, not another one.
             * @default null
             */
            resume?: string | null;
            /**
             * @description Tell in the answer which `_meta` the server was sent, and when.
             * @default false
             */
            trail?: boolean;
        };
        /** @description The result of a call as MCP clients get it, with its id. */
        CallResult: {
            callId: string;
            content: unknown[];
            /** @description Of built-in tools the envelope: status, code, data, error. Of others what they gave. */
            structuredContent?: unknown;
            isError: boolean;
            /** @description `chatos`: status, code, certain, server, tool, trace, elapsedMs, size, ts, truncated. */
            _meta?: unknown;
            /** @description What became of the call, where that was asked for. */
            trail?: components["schemas"]["CallTrail"] | null;
        };
        /** @description What became of a call; times in milliseconds since it was asked for. */
        CallTrail: {
            /** @description `_meta` as the server was sent it, but for the progress token. */
            meta: {
                [key: string]: unknown;
            };
            /** @description Absent: it was never sent. */
            sentMs?: number | null;
            /** @description When the server acknowledged it, where the result comes later. */
            ackMs?: number | null;
            endedMs: number;
            /** @description The id of the AsyncTask. */
            taskId?: string | null;
            /** @description The id the server minted itself and named in its ACK. */
            ackTaskId?: string | null;
        };
        /** @description A call that names its tool in the body. */
        NamedCallInput: {
            /** @description The name people gave the server. */
            server: string;
            /** @description The tool, by the name its server gave it. */
            tool: string;
            /**
             * @description Arguments as the schema of the tool has them.
             * @default null
             */
            arguments?: unknown;
            /**
             * @description `_meta` of the call.
             * @default {}
             */
            meta?: {
                [key: string]: unknown;
            };
            /**
             * @description Names the chat the call belongs to, for fair queueing.
             * @default
             */
            session?: string;
            /**
             * @description The directory the tool works in; the host's project when absent.
             * @default null
             */
            root?: string | null;
            /**
             * @description The call is made for another program: `root` is its folder, and without one tools that work in a
             *     folder are refused.
             * @default false
             */
            forClient?: boolean;
            /**
             * @description Names the call for cancelling and in the log; made up when absent.
             * @default null
             */
            callId?: string | null;
            /**
             * @description Call as this agent would (its grants, its questions); id or name.
             * @default null
             */
            agent?: string | null;
            /**
             * @description The question this call asked before the host stopped: the same question, not another one.
             * @default null
             */
            resume?: string | null;
            /**
             * @description Tell in the answer which `_meta` the server was sent, and when.
             * @default false
             */
            trail?: boolean;
        };
        /** @description How a call by hand stands. */
        CallStateView: {
            /** @description false: it has ended, or there never was one. */
            running: boolean;
            /** @description The questions it asked a person, in the order of asking. */
            questions: string[];
            /** @description How often it said something about its progress. */
            said: number;
            /** @description What it said last: how far it is, or what it waits for. */
            says?: string | null;
            /** @description How far it is, by its own count. */
            progress?: number | null;
            /** @description Of how much, where its server says it. */
            total?: number | null;
        };
        /** @description Whether there was a call to cancel. */
        CancelResult: {
            /** @description false: no such call is running. */
            canceled: boolean;
        };
        /** @description What granted servers offer beside their tools. */
        PassedOn: {
            prompts: components["schemas"]["PassedEntry"][];
            resources: components["schemas"]["PassedEntry"][];
            templates: components["schemas"]["PassedEntry"][];
            /** @description What the servers say about themselves, as far as a person approved it. */
            instructions?: string | null;
            /** @description Servers that have not told theirs yet. */
            late: string[];
        };
        /** @description A prompt, a resource or a template under a name that no other has. */
        PassedEntry: {
            /** @description The name or address a client is given. */
            name: string;
            /** @description The identity of its server. */
            server: string;
            /** @description What that server calls it. */
            own: string;
            /** @description As the protocol has it. */
            definition: unknown;
        };
        /** @description A request that is passed on to a server. */
        PassOrder: {
            /**
             * @description The agent whose grants count.
             * @default
             */
            agent?: string;
            /**
             * @description The identity or name of the server.
             * @default
             */
            server?: string;
            /**
             * @description `prompts/get`, `resources/read` or `completion/complete`.
             * @default
             */
            method?: string;
            /** @default {} */
            params?: {
                [key: string]: unknown;
            };
        };
        /** @description Whether tools, their servers or grants changed. */
        ToolNews: {
            /** @description What the next question begins with. */
            next: number;
            changed: boolean;
        };
        /** @description Records of the tool log, newest first. */
        ToolLogView: {
            items: unknown[];
            nextCursor?: string | null;
        };
        /** @description Every server. */
        ServerList: {
            items: components["schemas"]["ServerView"][];
        };
        /** @description A server. */
        ServerView: {
            /** @description Names it in this API. */
            id: string;
            /** @description The key of grants: `admin:<id>` or `app:<pluginId>/<appId>`. */
            identity: string;
            name: string;
            url: string;
            /** @description The words of a program, as they are started. */
            argv?: string[] | null;
            /** @description `in-process`, `stdio`, `http` or `ws`. */
            transport: string;
            description: string;
            enabled: boolean;
            /** @description Only `enabled` may be changed. */
            locked: boolean;
            allowMain: boolean;
            allowSub: boolean;
            timeoutMs?: number | null;
            maxTimeoutMs?: number | null;
            startTimeoutMs?: number | null;
            callMeta?: {
                [key: string]: unknown;
            } | null;
            /** @description Where a program runs; empty = the project of the host. */
            cwd: string;
            /** @description Addresses of this machine and its network are allowed. */
            allowPrivate: boolean;
            /** @description Folders it is told about when it asks (`roots/list`): those a person set, none otherwise. */
            roots: string[];
            auth: components["schemas"]["AuthView"];
            signIn: components["schemas"]["SignInView"];
            /** @description `builtin`, `app`, `user` or `import`. */
            source: string;
            pluginId?: string | null;
            appId?: string | null;
            tags: string[];
            state: components["schemas"]["ServerStateView"];
        };
        /** @description What may be told about credentials. */
        AuthView: {
            /** @description `none`, `token`, `basic` or `headers`. */
            kind: string;
            /** @description Something is stored; it is never shown. */
            hasValue: boolean;
            headerNames: string[];
            /** @description Names of variables a program gets. */
            envNames: string[];
            /** @description What a person said about signing in. */
            oauth?: components["schemas"]["OauthView"] | null;
        };
        /** @description What a person said about signing in to a server. */
        OauthView: {
            clientId?: string | null;
            /** @description A secret is stored; it is never shown. */
            hasSecret: boolean;
            scopes: string[];
        };
        /** @description The sign-in of a server. */
        SignInView: {
            /** @description `none`, `needed`, `pending` or `signed_in`. */
            state: string;
            /** @description A person can sign in to this server. */
            possible: boolean;
            /** @description Who was signed in at. */
            issuer?: string | null;
            /** @description The rights that were given. */
            scopes: string[];
            /** @description The rights it asks for, when it asks. */
            wanted: string[];
            /** @description When what was given ends, unless it is renewed; with `pending`: when the sign-in must be done. */
            expiresAt?: string | null;
            /** @description It is renewed without a person. */
            canRefresh: boolean;
            clientId?: string | null;
            /** @description Why the last sign-in failed. */
            error?: components["schemas"]["ServerFailure"] | null;
        };
        /** @description The last failure. */
        ServerFailure: {
            code: string;
            message: string;
            hint?: string | null;
            at: string;
            /** @description The last lines of its error stream. */
            stderr: string[];
        };
        /** @description Where a server is in its life. */
        ServerStateView: {
            /** @description `off`, `stopped`, `starting`, `ready`, `backoff`, `failed`, or `sign_in`: a person has to sign in. */
            phase: string;
            /** @description When that began. */
            since: string;
            /** @description `legacy` or `modern`. */
            era?: string | null;
            protocolVersion?: string | null;
            /** @description As the server says. */
            serverInfo?: unknown;
            /** @description Tools in its newest list. */
            tools?: number | null;
            /** @description Calls it works on. */
            inFlight: number;
            pid?: number | null;
            /** @description Times it was started again after a failure. */
            restarts: number;
            nextTryAt?: string | null;
            lastError?: components["schemas"]["ServerFailure"] | null;
        };
        /** @description A server to be added, or what changes about one; absent keys stay as they are. */
        ServerInput: {
            /**
             * @description Unique among all servers.
             * @default null
             */
            name?: string | null;
            /**
             * @description `cmd://program words…`, `http(s)://…` or `ws(s)://…`.
             * @default null
             */
            url?: string | null;
            /**
             * @description Instead of `url`: the program and its words, each for itself.
             * @default null
             */
            argv?: string[] | null;
            /** @default null */
            description?: string | null;
            /** @default null */
            enabled?: boolean | null;
            /** @default null */
            allowMain?: boolean | null;
            /** @default null */
            allowSub?: boolean | null;
            /**
             * @description Without a sign of life, 1,000 to 86,400,000; null = the setting.
             * @default null
             */
            timeoutMs?: number | null;
            /**
             * @description In all.
             * @default null
             */
            maxTimeoutMs?: number | null;
            /**
             * @description To start, 1,000 to 600,000; null = what its plugin declares, else the setting.
             * @default null
             */
            startTimeoutMs?: number | null;
            /**
             * @description Added to `_meta` of every call; null removes it.
             * @default null
             */
            callMeta?: {
                [key: string]: unknown;
            } | null;
            /**
             * @description Where a program runs.
             * @default null
             */
            cwd?: string | null;
            /**
             * @description Allow addresses of this machine and its network.
             * @default null
             */
            allowPrivate?: boolean | null;
            /**
             * @description Folders the server is told about when it asks (`roots/list`), as absolute paths; none by default.
             * @default null
             */
            roots?: string[] | null;
            /** @default null */
            tags?: string[] | null;
            /** @description Credentials of a remote server. */
            auth?: components["schemas"]["AuthInput"] | null;
            /**
             * @description Variables of a program; a value of null keeps the stored one, names left out are removed.
             * @default null
             */
            env?: {
                [key: string]: string | null;
            } | null;
            /** @description How to sign in where the server wants that and does not say all of it itself; null removes it. */
            oauth?: components["schemas"]["OauthInput"] | null;
        };
        /** @description Credentials. They are stored sealed and never shown again. */
        AuthInput: {
            /**
             * @description `none`, `token`, `basic` or `headers`.
             * @default
             */
            kind?: string;
            /**
             * @description Sent as `Authorization: Bearer`; absent keeps the stored one.
             * @default null
             */
            token?: string | null;
            /**
             * @description Sent as `Authorization: Basic`.
             * @default null
             */
            username?: string | null;
            /** @default null */
            password?: string | null;
            /**
             * @description Further headers; a value of null keeps the stored one.
             * @default null
             */
            headers?: {
                [key: string]: string | null;
            } | null;
        };
        /** @description A registration made beforehand at the place where one signs in, and what to ask for. */
        OauthInput: {
            /**
             * @description Absent keeps the stored one, an empty one removes it.
             * @default null
             */
            clientId?: string | null;
            /**
             * @description Stored sealed, never shown again; absent keeps the stored one, an empty one removes it.
             * @default null
             */
            clientSecret?: string | null;
            /**
             * @description Asked for instead of what the server asks for; absent keeps them.
             * @default null
             */
            scopes?: string[] | null;
        };
        /** @description A file of another client. */
        ServerImportInput: {
            /**
             * @description The text of the file.
             * @default null
             */
            text?: string | null;
            /**
             * @description The same, as JSON.
             * @default null
             */
            json?: unknown;
            /**
             * @description Take the servers over; without it they are only listed.
             * @default false
             */
            apply?: boolean;
        };
        /** @description What an import found and did. */
        ServerImport: {
            found: components["schemas"]["FoundServer"][];
            /** @description Ids of the servers that were added; empty without `apply`. */
            imported: string[];
        };
        /** @description A server found in a file. */
        FoundServer: {
            name: string;
            url: string;
            argv?: string[] | null;
            /** @description Names of the variables it gets; the values are not shown. */
            envNames: string[];
            /** @description What a person should look at before or after taking it over. */
            warnings: string[];
        };
        /** @description Where to sign in. */
        SignInBody: {
            /**
             * @description One of the places the server names; absent: the one of the last sign-in, or the first.
             * @default null
             */
            issuer?: string | null;
        };
        /** @description A sign-in that was begun. */
        SignInStart: {
            /** @description Where the person signs in. */
            url: string;
            issuer: string;
            /** @description All places the server names; one of them can be asked for. */
            issuers: string[];
            /** @description The host of `url`. */
            host: string;
            /** @description The rights that are asked for. */
            scopes: string[];
            /** @description When it must be done. */
            expiresAt: string;
        };
        /** @description A sign-in that was ended. */
        SignedOut: {
            /** @description The place of the sign-in confirmed that it ended what it had given. */
            revoked: boolean;
        };
        /** @description The tools of a server. */
        ServerTools: {
            items: components["schemas"]["ServerToolView"][];
            /** @description Tools that were left out, and why. */
            problems: string[];
        };
        /** @description A tool of a server, for its page. */
        ServerToolView: {
            /** @description The server's own name. */
            name: string;
            title: string;
            description: string;
            inputSchema: unknown;
            /** @description As the server says; nothing relies on it. */
            annotations: unknown;
            /** @description `approved`, or `changed` or `new`: off until a person approves it. */
            state: string;
            /** @description Why it is off. */
            why?: string | null;
        };
        /** @description The newest lines of a server's log. */
        ServerLogView: {
            /** @description Where the file is. */
            path: string;
            /** @description `{ts, source, level, text}`, oldest first. */
            items: unknown[];
        };
        /** @description Tools that wait for a person. */
        PinList: {
            items: components["schemas"]["PinView"][];
        };
        /** @description A tool that waits for a person, or what a person approved. */
        PinView: {
            identity: string;
            /** @description The server's id and name, where it still exists. */
            serverId?: string | null;
            server: string;
            tool: string;
            /** @description `approved`, `changed` or `new`. */
            state: string;
            digest: string;
            /** @description The tool as the server offers it now, in full. */
            now: unknown;
            /** @description The tool as it was approved, where that is another one. */
            approved?: unknown;
            decidedAt?: string | null;
            decidedBy: string;
        };
        /** @description What a person approves. */
        ApproveInput: {
            /** @description The server: its identity, id or name. */
            identity: string;
            /** @description Tools: a name each, or a name with the digest that was shown. */
            tools: components["schemas"]["ApprovedTool"][];
        };
        /** @description A tool to approve. */
        ApprovedTool: string | {
            /** @description The tool's own name. */
            tool: string;
            /** @description From the list of tools that wait. */
            digest: string;
        };
        /** @description What was approved. */
        Approved: {
            approved: string[];
        };
        /** @description The whole listing. */
        PluginListing: {
            ok: boolean;
            revision: number;
            pluginDirs: components["schemas"]["PluginDirs"];
            plugins: components["schemas"]["PluginEntry"][];
            apps: components["schemas"]["AppEntry"][];
            errors: components["schemas"]["ProblemEntry"][];
        };
        /** @description Where plugins are. */
        PluginDirs: {
            builtin: string;
            user: string;
        };
        /** @description One plugin. */
        PluginEntry: {
            id: string;
            name: string;
            version: string;
            description: string;
            publisher?: components["schemas"]["PublisherEntry"] | null;
            /** @description `builtin`, `user` or `dev`. */
            source: string;
            trusted: boolean;
            /** @description False for a user plugin that waits for trust while the built-in of its id is used. */
            active: boolean;
            /** @description Origin of the plugin of the same id that it overrides, or would once trusted. */
            shadows?: string | null;
            trust: components["schemas"]["TrustEntry"];
            backend?: components["schemas"]["BackendEntry"] | null;
            apps: components["schemas"]["AppEntry"][];
            extra: {
                [key: string]: unknown;
            };
        };
        /** @description Who says to have made it; never verified. */
        PublisherEntry: {
            name?: string | null;
            url?: string | null;
            email?: string | null;
        };
        /** @description The trust of a plugin. */
        TrustEntry: {
            /** @description `trusted`, `untrusted` or `changed`. */
            state: string;
            /** @description Of what is on disk; null for built-in and development plugins. */
            digest?: string | null;
            decidedAt?: string | null;
        };
        /** @description The backend of a plugin. */
        BackendEntry: {
            entry: string;
            available: boolean;
            /** @description `stopped`, `starting`, `running`, `backoff` or `failed`. */
            state?: string | null;
        };
        /** @description One app. */
        AppEntry: {
            id: string;
            name: string;
            description: string;
            /** @description As written in the manifest. */
            icon: string;
            /** @description What may be drawn. */
            iconView: components["schemas"]["IconEntry"];
            entry: components["schemas"]["ModuleEntry"];
            ai?: components["schemas"]["AiEntry"] | null;
            route: string;
            plugin: components["schemas"]["AppPlugin"];
        };
        /** @description What may be drawn for an app; a file is fetched through the API, never by its address. */
        IconEntry: {
            /** @description `text`, `file` or `letter`. */
            kind: string;
            /** @description The text or letter; the path for a file. */
            value: string;
        };
        /** @description A front-end module. */
        ModuleEntry: {
            type: string;
            path: string;
            /** @description An identifier, not loadable. */
            url: string;
            compact?: components["schemas"]["ModuleEntry"] | null;
        };
        /** @description What an app contributes. */
        AiEntry: {
            mcp?: components["schemas"]["AppServerEntry"] | null;
            mcpPrompt?: components["schemas"]["AppPromptEntry"] | null;
            /** @description null, true or a list of names. */
            mcpServers: unknown;
            /** @description null, true or a list of names. */
            prompts: unknown;
            agent?: unknown;
        };
        /** @description An app's own server. */
        AppServerEntry: {
            name: string;
            url: string;
            description: string;
            tags: string[];
            enabled: boolean;
            allowMain: boolean;
            allowSub: boolean;
            hasAuth: boolean;
        };
        /** @description An app's own prompt; the texts are not listed. */
        AppPromptEntry: {
            title: string;
            zh?: components["schemas"]["PromptPlace"] | null;
            en?: components["schemas"]["PromptPlace"] | null;
            names: components["schemas"]["PromptNameEntry"];
        };
        /** @description Where a prompt text stands; no path for text in the manifest itself. */
        PromptPlace: {
            path?: string | null;
        };
        /** @description Prompt names. */
        PromptNameEntry: {
            zh: string;
            en: string;
        };
        /** @description The plugin of an app. */
        AppPlugin: {
            id: string;
            name: string;
            version: string;
            source: string;
            trusted: boolean;
            backend?: components["schemas"]["BackendEntry"] | null;
        };
        /** @description A problem in one language. */
        ProblemEntry: {
            path: string;
            code: string;
            severity: string;
            message: string;
            hint: string;
            dir?: string | null;
            pluginId?: string | null;
            appId?: string | null;
            source: string;
        };
        /** @description One plugin in full. */
        PluginDetails: {
            plugin: components["schemas"]["PluginEntry"];
            dir: string;
            homepage?: string | null;
            license?: string | null;
            capabilities?: string[] | null;
            /** @description Of what is on disk now; null when the files cannot be read. */
            digest?: string | null;
            /** @description Why there is no digest. */
            unreadable?: string | null;
            fileCount: number;
            totalBytes: number;
            servers: components["schemas"]["PluginServer"][];
            /**
             * @description Packages its programs take from ChatOS, with their versions; not part of the digest.
             * @default []
             */
            lent?: string[];
            exposure: components["schemas"]["PluginExposure"][];
            prompts: components["schemas"]["PluginPrompt"][];
            files: components["schemas"]["PluginFile"][];
            /** @description Null without a trust record. */
            changes?: components["schemas"]["PluginChanges"] | null;
            overridesBuiltin: boolean;
            data: components["schemas"]["PluginData"];
            problems: components["schemas"]["ProblemEntry"][];
        };
        /** @description A server the plugin would run or connect to. */
        PluginServer: {
            appId: string;
            name: string;
            /** @description Program and arguments, one token each. */
            argv?: string[] | null;
            url?: string | null;
            /** @description `public`, `loopback`, `private` or `link_local`. */
            hostClass?: string | null;
            /** @description The program is not Node. */
            unusualCommand: boolean;
            /** @description Hosts that are sent credentials. */
            authHosts: string[];
            enabled: boolean;
            allowMain: boolean;
            allowSub: boolean;
            /** @description The working directory it asks for, when that is not below its data directory or the project. */
            workdirOutside?: string | null;
        };
        /** @description What an app asks to be selectable. */
        PluginExposure: {
            appId: string;
            /** @description null, true or a list of names. */
            mcpServers: unknown;
            /** @description null, true or a list of names. */
            prompts: unknown;
        };
        /** @description A prompt text the plugin brings. */
        PluginPrompt: {
            appId: string;
            language: string;
            name: string;
            title: string;
            bytes: number;
        };
        /** @description A file. */
        PluginFile: {
            path: string;
            size: number;
            executable: boolean;
        };
        /** @description Differences to what was trusted. */
        PluginChanges: {
            added: components["schemas"]["ChangedFile"][];
            removed: components["schemas"]["ChangedFile"][];
            changed: components["schemas"]["ChangedFile"][];
        };
        /** @description One differing file. */
        ChangedFile: {
            path: string;
            size: number;
            oldSize?: number | null;
            /** @description Can it be run? Given where that is new. */
            executable?: boolean | null;
            /** @description Could it be run when it was trusted? Given where that changed. */
            oldExecutable?: boolean | null;
        };
        /** @description The data directory. */
        PluginData: {
            dir: string;
            exists: boolean;
            bytes: number;
        };
        /** @description The result of a removal. */
        PluginRemoved: {
            ok: boolean;
            pluginId: string;
            removed: boolean;
            /** @description `kept` or `deleted`. */
            data: string;
            rowsRemoved: number;
            /** @description Folders with its id that were not installed: they were moved aside, not deleted. */
            kept: components["schemas"]["KeptFolder"][];
        };
        /** @description A folder that was moved aside. */
        KeptFolder: {
            /** @description Where it was. */
            from: string;
            /** @description Where it is now. */
            to: string;
        };
        /** @description Files of a plugin. */
        PluginFiles: {
            files: components["schemas"]["PluginFile"][];
        };
        /** @description Everything the trust page shows. */
        TrustSheet: {
            plugin: components["schemas"]["PluginEntry"];
            dir: string;
            homepage?: string | null;
            license?: string | null;
            capabilities?: string[] | null;
            /** @description Of what is on disk now; null when the files cannot be read. */
            digest?: string | null;
            /** @description Why there is no digest. */
            unreadable?: string | null;
            fileCount: number;
            totalBytes: number;
            servers: components["schemas"]["PluginServer"][];
            /**
             * @description Packages its programs take from ChatOS, with their versions; not part of the digest.
             * @default []
             */
            lent?: string[];
            exposure: components["schemas"]["PluginExposure"][];
            prompts: components["schemas"]["PluginPrompt"][];
            files: components["schemas"]["PluginFile"][];
            /** @description Null without a trust record. */
            changes?: components["schemas"]["PluginChanges"] | null;
            overridesBuiltin: boolean;
            data: components["schemas"]["PluginData"];
            problems: components["schemas"]["ProblemEntry"][];
            /** @description What changed in text files, as far as it fits. */
            diffs: components["schemas"]["FileDiff"][];
            /** @description What its pages may call, and what of it needs a tick. */
            rights: components["schemas"]["CapabilityView"][];
        };
        /** @description A file then and now. */
        FileDiff: {
            path: string;
            /** @description `text`, `binary`, `too_large`, or `unavailable` when the old text was not kept. */
            kind: string;
            oldText?: string | null;
            newText?: string | null;
            /** @description The difference as unified text, for a terminal. */
            unified?: string | null;
        };
        /** @description One capability of a plugin, for its page. */
        CapabilityView: {
            capability: string;
            /** @description How much it weighs. */
            level: components["schemas"]["CapabilityLevel"];
            /** @description The manifest names it, or has no list at all. */
            requested: boolean;
            /** @description The manifest names it. */
            declared: boolean;
            /** @description An app tried to use it and was refused. */
            wanted: boolean;
            /** @description `on` without a decision, or `ask`. */
            default: string;
            /** @description As it stands for all apps of the plugin. */
            state: components["schemas"]["CapabilityState"];
            /** @description Hosts a person allowed; `network` only. */
            hosts?: string[];
            /** @description Hosts the manifest names; `network` only. */
            wantedHosts?: string[];
        };
        /** @description How much a capability weighs (the third, programs, is no capability: it is what a plugin starts). */
        CapabilityLevel: "amber" | "grey";
        /** @description How a capability stands for an app. */
        CapabilityState: "on" | "off";
        /** @description The newest lines of a plugin's output. */
        PluginLog: {
            /** @description Where the file is. */
            path: string;
            /** @description Oldest first; empty when nothing ever ran. */
            lines: string[];
        };
        /** @description What the person saw when deciding. */
        TrustBody: {
            /** @description `sha256:…` as shown. */
            digest: string;
            /**
             * @description The person ticked that it may connect to addresses inside this computer or network.
             * @default false
             */
            allowInsideNetwork?: boolean;
            /**
             * @description What the person ticked of the lines that reach beyond the plugin (`chat.read`, `network:<host>`, …); the
             *     others are off. Absent: the ticks of before stay.
             * @default null
             */
            allow?: string[] | null;
        };
        /** @description A package on this machine. */
        InstallBody: {
            /** @description Absolute path of a directory or `.zip` file. */
            path: string;
            /**
             * @description Tolerate errors of apps, compact entries, backends and `ai` parts.
             * @default false
             */
            allowProblems?: boolean;
            /**
             * @description Only say what would change.
             * @default false
             */
            dryRun?: boolean;
        };
        /** @description One piece of long work. */
        OperationView: {
            id: string;
            /** @description Such as `install`. */
            kind: string;
            state: components["schemas"]["OperationState"];
            progress?: components["schemas"]["OperationProgress"] | null;
            /** @description What came of it, when it is done. */
            result?: unknown;
            /** @description The error object without its envelope, when it failed. */
            error?: unknown;
            /** @description The HTTP status the failure would have had as an answer. */
            status?: number | null;
        };
        /** @description Where long work stands. */
        OperationState: "running" | "done" | "failed" | "canceled";
        /** @description How far it is. */
        OperationProgress: {
            done: number;
            total?: number | null;
            /** @description `bytes` or `files`. */
            unit: string;
            message: string;
        };
        /** @description How thoroughly to look. */
        RefreshBody: {
            /**
             * @description Forget the cache first.
             * @default false
             */
            deep?: boolean;
        };
        /** @description What an app contributes. */
        AppAi: {
            pluginId: string;
            appId: string;
            /** @description May it be used? */
            trusted: boolean;
            /** @description The documented contribution; null when the app contributes nothing. */
            contribution?: unknown;
        };
        /** @description How an app is to be shown. */
        OpenBody: {
            /**
             * @description `full` or `compact`.
             * @default full
             */
            surface?: components["schemas"]["Surface"];
            /**
             * @description The page's colours, so that the frame begins with them.
             * @default null
             */
            theme?: components["schemas"]["FrameTheme"] | null;
            /** @default null */
            lang?: components["schemas"]["FrameLang"] | null;
        };
        /** @description Where an app is shown (host-api §1). */
        Surface: "full" | "compact";
        /** @enum {string} */
        FrameTheme: "light" | "dark";
        /** @enum {string} */
        FrameLang: "en" | "zh";
        /** @description Where the frame of an app is, and what the page needs to talk to it. */
        OpenedApp: {
            /** @description On the plugin's own origin. */
            frameUrl: string;
            /** @description Below the page's own origin, for a sandbox without an origin. */
            fallbackUrl: string;
            /** @description The origin of `frameUrl`. */
            origin: string;
            /** @description The frame shows it in its first message. */
            nonce: string;
            /** @description The files that are served. */
            rev: string;
            /** @description The module, relative to the plugin. */
            entry: string;
            /** @description What the app may call now. */
            capabilities: string[];
            /** @description What the frame is told at its start. */
            snapshot: unknown;
        };
        /** @description A call of an app's own backend. */
        BackendCallBody: {
            /** @default null */
            method?: string | null;
            /** @default null */
            params?: unknown;
            /**
             * @description 1,000 to 7,200,000; ten minutes when absent.
             * @default null
             */
            timeoutMs?: number | null;
            /**
             * @description To cancel it by; made by the caller, unique among its calls.
             * @default null
             */
            callId?: string | null;
        };
        /** @description What a backend answered. */
        BackendResult: {
            /** @description The plugin's own JSON. */
            result: unknown;
        };
        /** @description What an app tried and may not. */
        WantedBody: {
            capability: string;
        };
        /** @description A folder of a plugin's apps. */
        RootBody: {
            /** @description As listed. */
            root: string;
        };
        /** @description Apps whose front end is needed now. */
        NeededApps: {
            items: components["schemas"]["NeededApp"][];
        };
        /** @description One of them. */
        NeededApp: {
            pluginId: string;
            appId: string;
            /** @description Ids of the calls whose result its page has to bring. */
            callIds: string[];
        };
        /** @description What the page found out about its browser. */
        MeasuredBody: {
            /** @description `full`: pages of apps reach no network; `partial`: this browser cannot keep them off it. */
            confinement: components["schemas"]["Confinement"];
        };
        /** @description What a browser does with the header that confines frames. */
        Confinement: "full" | "partial";
        /** @description A backend as people see it. */
        BackendStatus: {
            /** @description What it is doing. */
            state: components["schemas"]["BackendPhase"];
            pid?: number | null;
            /** @description Calls it works on. */
            inFlight: number;
            /** @description Calls that wait for a place. */
            queued: number;
            /** @description Crashes since the last change, restart or healthy minute. */
            crashes: number;
            /** @description Until it may be started again. */
            retryAfterMs?: number | null;
            /** @description Why it ended or did not start. */
            lastError?: components["schemas"]["BackendFailure"] | null;
        };
        /** @description What a backend is doing (plugins §6). */
        BackendPhase: "running" | "stopped" | "starting" | "backoff" | "failed";
        /** @description The last error of a backend. */
        BackendFailure: {
            /** @description One of the codes an app knows. */
            code: string;
            message: string;
            /** @description When this was decided or happened. */
            at: string;
        };
        /** @description Capabilities of a plugin. */
        CapabilityList: {
            items: components["schemas"]["CapabilityView"][];
            /** @description Folders its apps asked for, and what a person said. */
            roots: components["schemas"]["AppRootView"][];
        };
        /** @description A folder of an app, for the plugin's page. */
        AppRootView: {
            root: string;
            /** @description `asked`, `full`, `read` or `no`. */
            mode: string;
            /** @description When this was decided or happened. */
            decidedAt: string;
        };
        /** @description Decisions about capabilities. */
        GrantList: {
            items: components["schemas"]["GrantView"][];
        };
        /** @description One recorded decision. */
        GrantView: {
            pluginId: string;
            /** @description One app, or empty for all. */
            appId: string;
            capability: string;
            /** @description A host for `network`. */
            value: string;
            /** @description `granted` or `withdrawn`. */
            state: string;
            /** @description When this was decided or happened. */
            decidedAt: string;
            /** @description Where: `ui`, `cli`. */
            decidedBy: string;
        };
        /** @description A decision to record. */
        GrantChange: {
            pluginId: string;
            /**
             * @description One app; all when absent.
             * @default
             */
            appId?: string;
            capability: string;
            /**
             * @description A host for `network`.
             * @default
             */
            value?: string;
            /** @description `granted`, `withdrawn`, or `default` to forget the decision. */
            state: string;
        };
        /** @description Tools with a view. */
        ViewList: {
            items: components["schemas"]["ToolWithView"][];
        };
        /** @description A tool that has a view. */
        ToolWithView: {
            /** @description The server's own name of it. */
            tool: string;
            /** @description The resource that shows its results. */
            uri: string;
        };
        /** @description Which view to show. */
        OpenView: {
            /** @description The server's identity, row id or name. */
            server: string;
            /** @description The tool whose result it shows. */
            tool: string;
            /**
             * @description The agent whose grants count for what the view calls; a person by hand when absent.
             * @default null
             */
            agent?: string | null;
            /**
             * @description A person allowed the hosts the view asks for.
             * @default false
             */
            allowHosts?: boolean;
        };
        /** @description Where a view is, and what the page needs to talk to it. */
        OpenedView: {
            /** @description Names it in calls. */
            id: string;
            /** @description On an origin of its server. */
            frameUrl: string;
            /** @description Below the page's own origin, for a sandbox without an origin. */
            fallbackUrl: string;
            /** @description The origin of `frameUrl`. */
            origin: string;
            /** @description What people call the server. */
            server: string;
            uri: string;
            /** @description The tool as its server describes it. */
            tool: unknown;
            /** @description Hosts it asks for. */
            asks: components["schemas"]["ViewHosts"];
            /** @description Hosts it may reach now. */
            allowed: components["schemas"]["ViewHosts"];
            /** @description It wants a border; absent when it does not care. */
            prefersBorder?: boolean | null;
        };
        /** @description Hosts a view may load from, each list for one purpose. */
        ViewHosts: {
            /** @description Requests. */
            connectDomains: string[];
            /** @description Scripts, styles, images, fonts, media. */
            resourceDomains: string[];
            /** @description Frames inside it. */
            frameDomains: string[];
            /** @description Bases of relative addresses. */
            baseUriDomains: string[];
        };
        /** @description A call of a tool by a view. */
        ViewCall: {
            /** @description The server's own name of the tool. */
            tool: string;
            /**
             * @description Its arguments.
             * @default null
             */
            arguments?: unknown;
            /**
             * @description The chat the view is shown in.
             * @default null
             */
            session?: string | null;
        };
        /** @description A resource a view wants. */
        ViewRead: {
            uri: string;
        };
        /** @description All known operations, newest first. */
        OperationList: {
            items: components["schemas"]["OperationView"][];
        };
        /** @description A page of entries. */
        JournalList: {
            projectRoot: string;
            items: components["schemas"]["JournalEntryView"][];
            total: number;
            nextCursor?: string | null;
        };
        /** @description One entry. */
        JournalEntryView: {
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
        JournalInput: {
            /** @description The host's project when absent. */
            projectRoot?: string | null;
            /** @default  */
            title?: string;
            summary: string;
            /** @default  */
            details?: string;
            /** @default [] */
            tags?: string[];
            /** @default [] */
            files?: string[];
            /** @default [] */
            highlights?: string[];
            /** @default [] */
            nextSteps?: string[];
            dedupeKey?: string | null;
        };
        /** @description Projects that have a journal, most recent first. */
        JournalProjects: {
            items: components["schemas"]["JournalProject"][];
        };
        /** @description One of them. */
        JournalProject: {
            root: string;
            entries: number;
        };
        /** @description All secrets by name. */
        SecretList: {
            items: components["schemas"]["SecretView"][];
        };
        /** @description What may be told about a secret. */
        SecretView: {
            name: string;
            /**
             * @description `named`: set by a person, for models and headers; `grant` and `sign-in`: of an MCP server somebody
             *     signed in to or is about to.
             */
            kind: string;
            /** @description Always true: what is not set is not listed. */
            set: boolean;
            description: string;
            createdAt: string;
            updatedAt: string;
            lastUsedAt?: string | null;
            /** @description False when it was sealed with a key that is not here. */
            openable: boolean;
        };
        /** @description A new value. It has no `Debug`, so that it cannot reach a log by accident. */
        NewSecret: {
            value: string;
            description?: string | null;
        };
        /** @description Whether it was new. */
        SecretSet: {
            ok: boolean;
            created: boolean;
        };
        /** @description What is open. */
        AccessList: {
            items: components["schemas"]["AccessView"][];
        };
        /** @description One thing that is open. */
        AccessView: {
            id: string;
            /** @description The project's folder. */
            root: string;
            kind: components["schemas"]["AccessKind"];
            /** @description An absolute path, or `name[:port]`. */
            value: string;
            grantedAt: string;
            lastUsedAt?: string | null;
            /** @description The question it was the answer to. */
            requestId?: string | null;
        };
        /** @description What is open. */
        AccessKind: "read" | "write" | "host";
        /** @description Opens something. */
        AllowAccess: {
            /** @description The project's folder, absolute. */
            root: string;
            kind: components["schemas"]["AccessKind"];
            value: string;
        };
        /** @description A command to explain. */
        ExplainAccess: {
            /** @description The project's folder, absolute. */
            root: string;
            /** @description As an agent would run it there. */
            command: string;
        };
        /** @description What a command could touch and why, and whether a person would be asked. */
        AccessExplained: {
            command: string;
            /** @description The real path of the project's folder. */
            root: string;
            /** @description `strict` or `relaxed`. */
            mode: string;
            /** @description How much this computer confines it: `full`, `fs` or `none`. */
            level: string;
            /** @description `off`, `hosts` or `on`. */
            network: string;
            decision: components["schemas"]["AccessDecision"];
            /** @description Why it is asked about or refused. */
            why: string[];
            /** @description What was seen in its text. */
            findings: components["schemas"]["AccessFinding"][];
            /** @description Nothing where nothing confines it. */
            grants: components["schemas"]["AccessGrant"][];
            /** @description Closed whatever is open around them, unless a grant names them: what belongs to ChatOS, keys, tokens and the like. */
            closed: string[];
            /** @description What the person's rules say, where one of them may answer the question. */
            rules?: components["schemas"]["RulesTried"] | null;
        };
        /** @description What would happen to a command. */
        AccessDecision: "allow" | "ask" | "deny";
        /** @description Something seen in the text of a command. */
        AccessFinding: {
            id: string;
            /** @description `info`, `warn`, `ask` or `block`. */
            level: string;
            message: string;
        };
        /** @description One thing that is open to a command. */
        AccessGrant: {
            /** @description What may be written may be read, too. */
            kind: components["schemas"]["AccessKind"];
            value: string;
            reason: components["schemas"]["AccessReason"];
            /** @description The same in words. */
            why: string;
            /** @description Of what a person opened to the project: `revoke` takes it. */
            id?: string | null;
        };
        /** @description Why a place or a machine is open to a command. */
        AccessReason: "project" | "temporary" | "system" | "search_path" | "toolchain" | "cache" | "relaxed" | "setting" | "granted" | "device";
        /** @description Programs that were seen. */
        ClientList: {
            /** @description Those that wanted to decide about their own calls, and those that may. */
            items: components["schemas"]["ClientView"][];
            /** @description Their sessions of the last thirty days, newest first. */
            sessions: components["schemas"]["ClientSession"][];
        };
        /** @description A program that was seen. */
        ClientView: {
            id: string;
            /** @description What it calls itself. */
            name: string;
            /** @description Its executable. */
            program: string;
            /** @description What an interpreter runs. */
            script?: string | null;
            uid: number;
            /** @description Only under this directory. */
            project?: string | null;
            seenAt: string;
            /** @description It may decide about its own calls. */
            allowed: boolean;
            allowedAt?: string | null;
        };
        /** @description A program's session with us. */
        ClientSession: {
            id: string;
            /** @description `gateway`, `hook`, `acp_agent` or `acp_editor`. */
            kind: string;
            /** @description What it calls itself. */
            name: string;
            version?: string | null;
            /** @description Tells apart programs of one name in one folder, from 1. */
            number: number;
            /** @description It said no name; this is that of its process. */
            unconfirmed: boolean;
            /** @description The folder it works in. */
            root?: string | null;
            /** @description Where that folder comes from: `flag`, `roots`, `cwd`, `acp`, `hook` or `none`. */
            rootFrom?: string | null;
            /** @description The last part of that folder. */
            project?: string | null;
            /** @description What it calls its session. */
            label?: string | null;
            /** @description Its executable, or what an interpreter runs. */
            program?: string | null;
            /** @description Whose tools it uses: id or name of an agent. */
            agent?: string | null;
            pid?: number | null;
            firstAt: string;
            seenAt: string;
            /** @description Its process is there now. */
            connected: boolean;
            /** @description Open questions. */
            waiting: number;
            /** @description It may decide about its own calls. */
            mayDecide: boolean;
        };
        /** @description A session with what it may use and what it did last. */
        ClientDetail: {
            session: components["schemas"]["ClientSession"];
            /** @description Servers whose tools it may call here; empty for a program that only asks. */
            uses: components["schemas"]["ClientUse"][];
            /** @description Its last questions, newest first. */
            questions: components["schemas"]["ClientQuestion"][];
            /** @description Its last calls, newest first. */
            calls: components["schemas"]["ClientCall"][];
        };
        /** @description A server that a program may use. */
        ClientUse: {
            server: string;
            tools: number;
            /** @description Tools of these that ask a person each time. */
            asks: number;
        };
        /** @description A question of a program. */
        ClientQuestion: {
            requestId: string;
            title: string;
            kind?: string | null;
            askedAt: string;
            answeredAt?: string | null;
            /** @description `ok`, `canceled`, `timeout` or `error`; absent while it is open. */
            status?: string | null;
            /** @description Why it was closed without a person. */
            code?: string | null;
        };
        /** @description A call of a program. */
        ClientCall: {
            at: string;
            server: string;
            tool: string;
            status: string;
            isError: boolean;
        };
        /** @description A session was written down by the process it belongs to. */
        ClientSeen: {
            /** @description Its id. */
            id: string;
        };
        /** @description Which program may decide about its own calls. */
        AllowClient: {
            /** @description What it calls itself. */
            name: string;
            /** @description Its executable or script, where several have that name. */
            program?: string | null;
            /** @description Only under this directory; everywhere when absent. */
            project?: string | null;
            /** @description The process that asks for it; no program allows itself. */
            pid?: number | null;
        };
        /** @description Which program is forgotten. */
        ForgetClient: {
            /** @description The id of the program or of one of its sessions, or what it calls itself. */
            id: string;
        };
        /** @description How many were forgotten. */
        ClientsForgotten: {
            ok: boolean;
            forgotten: number;
        };
        /** @description All models. */
        ModelList: {
            items: components["schemas"]["ModelView"][];
        };
        /** @description One model. */
        ModelView: {
            id: string;
            name: string;
            provider: string;
            /** @description The provider's own name of it. */
            model: string;
            baseUrl: string;
            /** @description A secret's name, or a variable's; may be empty. */
            apiKeyName: string;
            description: string;
            isDefault: boolean;
            enabled: boolean;
            /** @description 0: as the provider says. */
            contextTokens: number;
            /** @description 0: as the provider says. */
            maxOutputTokens: number;
            temperature?: number | null;
            /** @description Empty, `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`. */
            reasoningEffort: string;
            supportsVision: boolean;
            supportsReasoning: boolean;
            supportsTools: boolean;
            supportsParallelTools: boolean;
            /** @description `auto`, or `none`: tools are offered only until the first tool round. */
            toolFollowup: string;
            /** @description Values may be `secret:<name>`. */
            extraHeaders: {
                [key: string]: unknown;
            };
            /** @description Values may be `secret:<name>`. */
            extraBody: {
                [key: string]: unknown;
            };
            /** @description Per million tokens; unknown is not free. */
            priceInput?: number | null;
            priceOutput?: number | null;
            priceCacheRead?: number | null;
            priceCacheWrite?: number | null;
            currency: string;
            /** @description `user`, `builtin`, `detected` or `import`. */
            source: string;
            /**
             * @description Who said what about it, by member: `person`, `vendor`, `learned`, `catalogue` or `guess`; nobody where absent.
             *     `prices` stands for all of them.
             */
            sources: {
                [key: string]: string;
            };
            facts: components["schemas"]["ModelFactsView"];
            /** @description It can be asked now, as far as that is known without asking. */
            usable: boolean;
            problem?: components["schemas"]["ModelProblem"] | null;
            /** @description What it will not get, though it can be used. */
            warnings?: string[];
            lastTest?: components["schemas"]["LastTest"] | null;
            createdAt: string;
            updatedAt: string;
        };
        /** @description What is known about a model besides. */
        ModelFactsView: {
            /**
             * @description How it is spoken to: `openai` (chat completions), `responses`, `anthropic`, `gemini` or `ollama`; empty for the
             *     demo.
             */
            api: string;
            /** @description Tokens of one call that are reckoned with, whoever said so. */
            window: number;
            windowSource: string;
            /** @description It reads PDF files. */
            pdf: boolean;
            /** @description Words for how hard it may think. */
            efforts: string[];
            /** @description It takes marks for what to cache. */
            cacheControl: boolean;
            /** @description Tools of one request; 0: unknown. */
            maxTools: number;
            priceTiers: components["schemas"]["PriceTierView"][];
            /** @description The day the prices are of, as `2026-01-31`; empty where they are unknown. */
            pricesAsOf: string;
        };
        /** @description Prices of calls whose whole input is above a number of tokens, per million tokens. */
        PriceTierView: {
            above: number;
            input?: number | null;
            output?: number | null;
            cacheRead?: number | null;
            cacheWrite?: number | null;
        };
        /** @description Why a model cannot be used. */
        ModelProblem: {
            /** @description One of the classes of failures. */
            code: string;
            message: string;
        };
        /** @description How the last test ended. */
        LastTest: {
            ok: boolean;
            class?: string | null;
            message?: string | null;
            latencyMs: number;
            at: string;
        };
        /** @description What may be said about a model; what is absent stays as it is. */
        ModelInput: {
            name?: string | null;
            provider?: string | null;
            model?: string | null;
            baseUrl?: string | null;
            apiKeyName?: string | null;
            /** @description Stored as the secret `apiKeyName` and never given back. */
            apiKey?: string | null;
            description?: string | null;
            isDefault?: boolean | null;
            enabled?: boolean | null;
            contextTokens?: number | null;
            maxOutputTokens?: number | null;
            temperature?: number | null;
            reasoningEffort?: string | null;
            supportsVision?: boolean | null;
            supportsReasoning?: boolean | null;
            supportsTools?: boolean | null;
            supportsParallelTools?: boolean | null;
            toolFollowup?: string | null;
            extraHeaders?: {
                [key: string]: unknown;
            } | null;
            extraBody?: {
                [key: string]: unknown;
            } | null;
            priceInput?: number | null;
            priceOutput?: number | null;
            priceCacheRead?: number | null;
            priceCacheWrite?: number | null;
            currency?: string | null;
            source?: string | null;
        };
        /** @description Vendors that are known. */
        PresetList: {
            items: components["schemas"]["PresetView"][];
        };
        /** @description A vendor that is known. */
        PresetView: {
            id: string;
            name: string;
            /** @description How it is spoken to. */
            provider: string;
            baseUrl: string;
            /** @description What its key is usually called; empty when it needs none. */
            apiKeyName: string;
            /** @description Names to begin with; the vendor knows more. */
            models: string[];
        };
        /** @description A pasted key or address. It has no `Debug`: it may be a key. */
        Pasted: {
            text: string;
        };
        /** @description What it was taken for. */
        RecognisedView: {
            /** @description `key`, `url` or `nothing`. */
            kind: string;
            provider: string;
            name: string;
            baseUrl: string;
            apiKeyName: string;
            /** @description Names to begin with. */
            models: string[];
            /** @description Other vendors whose keys look the same. */
            others: components["schemas"]["PresetView"][];
        };
        /** @description Models of servers on this machine. */
        DetectedModels: {
            found: components["schemas"]["DetectedModel"][];
        };
        /** @description A model that could be added. */
        DetectedModel: {
            /** @description How it is spoken to. */
            provider: string;
            baseUrl: string;
            model: string;
            /** @description For people. */
            name: string;
            /** @description It is among the models already. */
            added: boolean;
        };
        /** @description How a test ended. */
        ModelTestView: {
            ok: boolean;
            class?: string | null;
            message?: string | null;
            latencyMs: number;
        };
        /** @description Models of a vendor or server that can chat. */
        OfferedModels: {
            items: components["schemas"]["OfferedModel"][];
            /** @description `vendor`: its own list. `catalogue`: what ChatOS ships, because the vendor gave none. */
            source: string;
            /** @description Why the vendor gave none. */
            problem?: components["schemas"]["ModelProblem"] | null;
        };
        /** @description One model that a vendor or server offers. */
        OfferedModel: {
            id: string;
            /** @description Tokens of its window; 0 where nobody knows. */
            contextTokens: number;
            supportsVision: boolean;
            supportsReasoning: boolean;
            supportsTools: boolean;
            /** @description What a million tokens of input cost. */
            priceInput?: number | null;
            priceOutput?: number | null;
            currency: string;
            /** @description It is among the models already. */
            added: boolean;
        };
        /** @description Which models to ask about. */
        RefreshOrder: {
            /**
             * @description Id or name; all when absent.
             * @default null
             */
            model?: string | null;
        };
        /** @description What was heard about models when their vendors were asked. */
        RefreshedModels: {
            items: components["schemas"]["RefreshedModel"][];
        };
        /** @description What became of one model that was asked about. */
        RefreshedModel: {
            id: string;
            name: string;
            /** @description Whether its vendor answered at all. */
            ok: boolean;
            problem?: components["schemas"]["ModelProblem"] | null;
            /** @description Tokens of one call, and who said so. */
            window: number;
            windowSource: string;
        };
        /** @description All agents. */
        AgentList: {
            items: components["schemas"]["AgentView"][];
        };
        /** @description One agent. */
        AgentView: {
            id: string;
            name: string;
            description: string;
            mode: components["schemas"]["Mode"];
            /** @description Empty: Safe default for custom agents. */
            landConfigId: string;
            /** @description `null`: the default model. */
            modelId?: string | null;
            prompt: string;
            workspaceRoot: string;
            promptLang: components["schemas"]["PromptLang"];
            promptIds: string[];
            /** @description `null`: everything the land_config lists. */
            mcpServerIds?: string[] | null;
            /** @description `null`: every subagent. */
            subagentIds?: string[] | null;
            skills: string[];
            uiApps: components["schemas"]["UiApp"][];
            /** @description The program of another maker that this agent is. */
            acp?: components["schemas"]["AcpView"] | null;
            /** @description Things it refers to that are gone or may not be used. */
            problems: components["schemas"]["Reason"][];
            /** @description The plugin whose app made it. */
            madeBy?: string | null;
            /** @description The question whether the app may let it work in the folder it wished for; only in the answer to that. */
            pendingRoot?: string | null;
            createdAt: string;
            updatedAt: string;
        };
        /** @description How an agent gets its tools. */
        Mode: "custom" | "flow";
        /** @description Which text of a prompt is used. */
        PromptLang: "auto" | "zh" | "en";
        /** @description One chosen app (seed 000 §4.2). */
        UiApp: {
            pluginId: string;
            appId: string;
            /** @default true */
            mcp?: boolean;
            /** @default true */
            prompt?: boolean;
            /** @default auto */
            promptLang?: components["schemas"]["PromptLang"];
            /** @default [] */
            mcpServerIds?: string[];
            /** @default [] */
            promptIds?: string[];
        };
        /** @description How an agent that is a program of another maker is started. */
        AcpView: {
            /** @description A path, or a name on `PATH`. */
            program: string;
            args: string[];
            /** @description Variables of the host's environment it gets. */
            passEnv: string[];
            /** @description Which known program it is. */
            knownId?: string | null;
            /** @description It is offered our servers, through the gateway. */
            gateway: boolean;
        };
        /** @description A code for programs, a sentence for people, the page that fixes it. */
        Reason: {
            code: string;
            message: string;
            fix?: string | null;
        };
        /** @description Agents as an app sees them. */
        AgentsSeen: {
            items: components["schemas"]["AgentSeen"][];
        };
        /** @description An agent as an app sees it: its own in full, the default one by name. */
        AgentSeen: components["schemas"]["AgentView"] | components["schemas"]["AgentName"];
        /** @description An agent by name. */
        AgentName: {
            id: string;
            name: string;
        };
        /** @description What may be said about an agent; what is absent stays as it is. */
        AgentInput: {
            name?: string | null;
            description?: string | null;
            mode?: components["schemas"]["Mode"] | null;
            landConfigId?: string | null;
            modelId?: string | null;
            prompt?: string | null;
            workspaceRoot?: string | null;
            promptLang?: components["schemas"]["PromptLang"] | null;
            promptIds?: string[] | null;
            mcpServerIds?: string[] | null;
            subagentIds?: string[] | null;
            skills?: string[] | null;
            uiApps?: components["schemas"]["UiApp"][] | null;
        };
        /** @description An agent as it would be, and the role to look at. */
        AgentPreview: {
            /** @description As for saving; with the `id` of a saved agent what is absent stays as it is there. */
            agent: {
                [key: string]: unknown;
            };
            role?: components["schemas"]["Role"] | null;
        };
        /** @description Everything about one agent in one role. */
        AgentExplanation: {
            agentId: string;
            role: components["schemas"]["Role"];
            /** @description The land_config that bounds it; `null` when there is none and the run is refused. */
            landConfig?: components["schemas"]["LandName"] | null;
            /** @description Why a run cannot begin at all. */
            stop?: components["schemas"]["Reason"] | null;
            servers: components["schemas"]["ServerExplanation"][];
            prompts: components["schemas"]["PromptExplanation"][];
            problems: components["schemas"]["Reason"][];
            /** @description Against the saved agent; only in previews. */
            changes?: components["schemas"]["GrantDifference"][] | null;
        };
        /** @description A land_config by name. */
        LandName: {
            id: string;
            name: string;
        };
        /** @description One server. */
        ServerExplanation: {
            /** @description `null` for something that does not exist. */
            identity?: string | null;
            name: string;
            granted: boolean;
            code?: string | null;
            message?: string | null;
            /** @description The rule that decided, in words. */
            rule: string;
            fix?: string | null;
            /** @description Tools as far as they are known. */
            tools?: components["schemas"]["ToolExplanation"][] | null;
            /** @description `now`: the server offers them at this moment; `lastSeen`: it is not connected, and offered them then. */
            toolsFrom?: string | null;
        };
        /** @description One tool. */
        ToolExplanation: {
            tool: string;
            granted: boolean;
            /** @description Each call first asks a person. */
            ask: boolean;
            code?: string | null;
            message?: string | null;
            rule: string;
        };
        /** @description One prompt. */
        PromptExplanation: {
            key: string;
            included: boolean;
            code: string;
            why: string;
        };
        /** @description One difference. */
        GrantDifference: {
            /** @description `gained`, `lost` or `ask`. */
            kind: string;
            /** @description The name people gave the server. */
            server: string;
            /** @description The tool; absent for the server as a whole. */
            tool?: string | null;
        };
        /** @description Every server with the agents that may use it. */
        ServerUsers: {
            items: components["schemas"]["ServerUser"][];
        };
        /** @description One server and the agents that may use it in chats. */
        ServerUser: {
            identity: string;
            name: string;
            /** @description The row it is kept in, for a server that was added. */
            rowId?: string | null;
            /** @description The plugin whose app has it. */
            pluginId?: string | null;
            appId?: string | null;
            agents: components["schemas"]["AgentName"][];
        };
        /** @description Gives a server or an app to an agent, or takes it back. */
        GiveInput: {
            /** @description Id, identity, name or its beginning; an app also as `PLUGIN/APP`. */
            server: string;
            /** @description Id, name or its beginning; `default` for the agent a chat begins with. */
            agent: string;
            /**
             * @description Only tools that fit one of these patterns; all of them when empty.
             * @default []
             */
            tools?: string[];
            /**
             * @description Whether subagents that this agent starts may use it too.
             * @default false
             */
            sub?: boolean;
            /**
             * @description Whether a person is asked before each call.
             * @default each
             */
            ask?: components["schemas"]["GiveAsk"];
            /**
             * @description Takes it back instead of giving it.
             * @default false
             */
            revoke?: boolean;
            /**
             * @description Only says what would change and changes nothing.
             * @default false
             */
            dryRun?: boolean;
        };
        /** @description When a person is asked about what was given. */
        GiveAsk: "each" | "no";
        /** @description What giving or taking back changed, or would change. */
        Given: {
            agent: components["schemas"]["AgentName"];
            /** @description The agent's permissions profile afterwards. */
            landConfig: components["schemas"]["LandName"];
            /** @description The profile that one was copied from, because it is locked or other agents use it. */
            copiedFrom?: components["schemas"]["LandName"] | null;
            /** @description What the agent gains and loses in chats. */
            changes: components["schemas"]["GrantDifference"][];
            /** @description The server for this agent afterwards. */
            server: components["schemas"]["ServerExplanation"];
        };
        /** @description Programs of other makers on this machine. */
        AcpFoundList: {
            items: components["schemas"]["AcpFound"][];
        };
        /** @description One program of another maker, as it is on this machine. */
        AcpFound: {
            id: string;
            title: string;
            /** @description `ready`; `adapter_missing`: the program is there, what lets ChatOS talk to it is not; `missing`. */
            state: string;
            /** @description The file that was found. */
            path?: string | null;
            /** @description What would be started. */
            command: string;
            /** @description The command that installs it. */
            install: string;
            /** @description How a person signs in to it, in a terminal. */
            signIn: string;
            /** @description The agent that is this program already. */
            agentId?: string | null;
        };
        /** @description A program of another maker as a new agent. */
        AcpInput: {
            /**
             * @description A known program; its command is known as well.
             * @default null
             */
            knownId?: string | null;
            /**
             * @description A path, or a name on `PATH`; for one that is not known.
             * @default null
             */
            program?: string | null;
            /** @default [] */
            args?: string[];
            /**
             * @description Further variables of the host's environment it gets.
             * @default []
             */
            passEnv?: string[];
            /** @default null */
            name?: string | null;
            /** @default null */
            workspaceRoot?: string | null;
            /**
             * @description Developer when absent: files and commands, each asked about.
             * @default null
             */
            landConfigId?: string | null;
            /**
             * @description It is not offered our servers.
             * @default false
             */
            withoutGateway?: boolean;
            /**
             * @description The person agreed that this program is started as them, with their login, in its folder.
             * @default false
             */
            confirmed?: boolean;
        };
        /** @description What a chat has of an agent that is another program. */
        AcpSession: {
            agentId: string;
            /** @description The program's own name and version; empty before its first turn. */
            program: string;
            /** @description The program runs at this moment. */
            running: boolean;
            /**
             * @description Modes, models and whatever else can be chosen.
             * @default []
             */
            options?: components["schemas"]["AcpOption"][];
            /**
             * @description What can be typed behind `/`.
             * @default []
             */
            commands?: components["schemas"]["AcpCommand"][];
            /** @description What the session cost so far, as the agent says. */
            cost?: components["schemas"]["AcpCost"] | null;
        };
        /** @description Something a person can choose of a session. */
        AcpOption: {
            /** @default  */
            id?: string;
            /** @default  */
            name?: string;
            description?: string;
            /**
             * @description `mode`, `model`, `thought_level` or a word of the agent.
             * @default
             */
            category?: string;
            /**
             * @description `mode`: set as a mode; `select` or `boolean`: set as an option.
             * @default
             */
            kind?: string;
            /**
             * @description What is chosen.
             * @default
             */
            value?: string;
            /** @default [] */
            choices?: components["schemas"]["AcpChoice"][];
        };
        /** @description One value of an option. */
        AcpChoice: {
            /** @default  */
            id?: string;
            /** @default  */
            name?: string;
            description?: string;
            /**
             * @description With this one the agent stops asking; a person has to confirm it.
             * @default false
             */
            unasked?: boolean;
        };
        /** @description A command of an agent. */
        AcpCommand: {
            /**
             * @description Without the stroke.
             * @default
             */
            name?: string;
            /** @default  */
            description?: string;
            /** @description What may follow it. */
            hint?: string;
        };
        /** @description An amount as an agent tells it. */
        AcpCost: {
            /** @default 0 */
            amount?: number;
            /** @default  */
            currency?: string;
        };
        /** @description What a person chooses of a session. */
        AcpChosen: {
            option: string;
            value: string;
            /**
             * @description The person agreed that the agent stops asking.
             * @default false
             */
            confirmed?: boolean;
        };
        /** @description All land_configs, the built-in ones first. */
        LandList: {
            items: components["schemas"]["LandView"][];
        };
        /** @description One land_config. */
        LandView: {
            /** @description Fixed once made; absent in a new one. */
            id?: string;
            /** @description Shown to people. */
            name: string;
            /**
             * @description What it is for.
             * @default
             */
            description?: string;
            /**
             * @description Can be copied, not edited or deleted.
             * @default false
             */
            locked?: boolean;
            /** @description What main agents may use. */
            main: components["schemas"]["Flow"];
            /** @description What subagents may use. */
            sub: components["schemas"]["Flow"];
            /**
             * @description Caps of a run.
             * @default {}
             */
            limits?: components["schemas"]["Limits"];
            /** @description Agents that name it. */
            usedBy: components["schemas"]["LandName"][];
            /** @description It came with the program. */
            builtin: boolean;
            /** @description What was accepted with a remark. */
            warnings?: string[];
        };
        /** @description What one role may use. */
        Flow: {
            /**
             * @description Servers by row id.
             * @default []
             */
            mcpServers?: components["schemas"]["ServerEntry"][];
            /**
             * @description Apps with a server of their own.
             * @default []
             */
            apps?: components["schemas"]["AppEntry2"][];
            /**
             * @description Whether a custom agent may add trusted apps it chose.
             * @default none
             */
            agentApps?: components["schemas"]["AgentApps"];
            /**
             * @description Whether a custom agent may use any prompt it chose.
             * @default listed
             */
            agentPrompts?: components["schemas"]["AgentPrompts"];
            /**
             * @description Prompts by key.
             * @default []
             */
            prompts?: components["schemas"]["PromptEntry"][];
        };
        /** @description One server of a flow. */
        ServerEntry: {
            /** @description Row id; the only thing that identifies it. */
            id: string;
            /** @description Display only. */
            name?: string;
            /**
             * @description Language of its prompt.
             * @default auto
             */
            promptLang?: components["schemas"]["PromptLang"];
            /**
             * @description Whether its prompt joins the system prompt.
             * @default true
             */
            prompt?: boolean;
            /**
             * @description Whether it may ask for model answers.
             * @default false
             */
            sampling?: boolean;
            /** @description Whether what the server says about itself joins the system prompt. */
            instructions?: boolean;
            /**
             * @description Which of its tools.
             * @default {}
             */
            tools?: components["schemas"]["ToolFilter"];
        };
        /** @description Which tools of a server, by patterns over raw names. */
        ToolFilter: {
            /** @description Absent: all. Present, even empty: only these. */
            allow?: components["schemas"]["Glob"][] | null;
            /** @description Never these; beats `allow`. */
            deny?: components["schemas"]["Glob"][];
            /** @description These only after a person said yes. */
            ask?: components["schemas"]["Glob"][];
        };
        /**
         * @description One pattern of a tool filter (agents §2). No character classes, no escapes, no separators:
         *     a dot in a tool name is a character like any other.
         */
        Glob: string;
        /** @description One app of a flow. */
        AppEntry2: {
            pluginId: string;
            appId: string;
            name?: string;
            /** @default auto */
            promptLang?: components["schemas"]["PromptLang"];
            /** @default true */
            prompt?: boolean;
            /** @default false */
            sampling?: boolean;
            instructions?: boolean;
            /** @default {} */
            tools?: components["schemas"]["ToolFilter"];
        };
        /** @description Whether a custom agent may add apps that the flow does not list. */
        AgentApps: "none" | "trusted";
        /** @description Whether a custom agent may use prompts that the flow does not list. */
        AgentPrompts: "listed" | "any";
        /** @description One prompt of a flow. */
        PromptEntry: {
            key: string;
            /** @default auto */
            lang?: components["schemas"]["PromptLang"];
        };
        /** @description Caps of a run; absent ones come from the settings. */
        Limits: {
            maxPasses?: number | null;
            maxSubDepth?: number | null;
            maxTokens?: number | null;
            maxCost?: number | null;
        };
        /** @description One land_config. */
        LandConfig: {
            /** @description Fixed once made; absent in a new one. */
            id?: string;
            /** @description Shown to people. */
            name: string;
            /**
             * @description What it is for.
             * @default
             */
            description?: string;
            /**
             * @description Can be copied, not edited or deleted.
             * @default false
             */
            locked?: boolean;
            /** @description What main agents may use. */
            main: components["schemas"]["Flow"];
            /** @description What subagents may use. */
            sub: components["schemas"]["Flow"];
            /**
             * @description Caps of a run.
             * @default {}
             */
            limits?: components["schemas"]["Limits"];
        };
        /** @description The name of a copy. */
        CopyInput: {
            name: string;
        };
        /** @description All texts, built-in ones first. */
        SystemPromptList: {
            items: components["schemas"]["SystemPromptView"][];
        };
        /** @description One text. */
        SystemPromptView: {
            id: string;
            /** @description The key land_configs and agents name it by. */
            name: string;
            title: string;
            content: string;
            type: string;
            /** @description Empty, `zh` or `en`. */
            lang: string;
            allowMain: boolean;
            allowSub: boolean;
            builtin: boolean;
            locked: boolean;
            /** @description `builtin`, `user`, `app` or `import`. */
            source: string;
            pluginId?: string;
            appId?: string;
            /**
             * @description A built-in text that a person changed.
             * @default false
             */
            edited?: boolean;
            createdAt: string;
            updatedAt: string;
        };
        /** @description What may be said about a text; what is absent stays as it is. */
        SystemPromptInput: {
            name?: string | null;
            title?: string | null;
            content?: string | null;
            /** @description Empty, `zh` or `en`. */
            lang?: string | null;
            allowMain?: boolean | null;
            allowSub?: boolean | null;
        };
        /** @description What to take over. */
        StateImportBody: {
            /** @description An absolute path of an older database; without it every known place is looked at. */
            path?: string | null;
        };
        /** @description What to keep. It has no `Debug`: the passphrase must not reach a log by accident. */
        BackupBody: {
            /** @description The file to make, absolute; it must not exist. */
            path: string;
            /**
             * @description Leave out the content of changed files, attachments and tool results.
             * @default false
             */
            noBlobs?: boolean;
            /** @description Add the state key, locked with this. */
            passphrase?: string | null;
        };
        /** @description What to remove. */
        PruneBody: {
            /** @description Runs that finished before this time: ISO 8601, or days as in `90d`. */
            runsBefore: string;
            /**
             * @description Only say what would go.
             * @default false
             */
            dryRun?: boolean;
        };
        /** @description What went, or would go. */
        PruneView: {
            dryRun: boolean;
            before: string;
            runs: number;
            steps: number;
            /** @description When the first and the last of them finished. */
            oldest?: string | null;
            newest?: string | null;
        };
        /** @description Imports there were, newest first. */
        StateImports: {
            items: components["schemas"]["StateImportView"][];
        };
        /** @description One import. */
        StateImportView: {
            source: string;
            importedAt: string;
            /** @description Per table of the source: found, imported, updated, skipped, repaired. */
            counts: unknown;
            /** @description The file with every skipped row and its reason. */
            report: string;
        };
        /** @description What may be told about the key. */
        StateKeyView: {
            /** @description The first eight digits of its hash. */
            keyId: string;
            /** @description `file`, `keychain`, or `named`: a file that CHATOS_MASTER_KEY_FILE names. */
            where: string;
            /** @description The file, if it is one. */
            path?: string | null;
            /** @description Keys before this one that still check what they signed. */
            former: number;
        };
        /** @description Nothing to say; an empty object. */
        RotateKey: Record<string, never>;
        /** @description What a rotation did. */
        KeyRotated: {
            /** @description The key before. */
            from: string;
            /** @description The key in force. */
            to: string;
            /** @description Values sealed anew. */
            resealed: number;
            /** @description Values that a lost key sealed; they stay as they are. */
            left: number;
        };
        /** @description Where to. */
        MoveKey: {
            to: components["schemas"]["KeyPlace"];
        };
        /** @enum {string} */
        KeyPlace: "keychain" | "file";
        /** @description What a move did. */
        MovedKey: {
            /** @description False: it was there. */
            moved: boolean;
            key: components["schemas"]["StateKeyView"];
        };
        /** @description What is under development here. */
        DevInfo: {
            /** @description Absent while the folder holds no plugin that can be read. */
            plugin?: components["schemas"]["DevPlugin"] | null;
            /** @description The app that was named when `chatos dev` was started. */
            app?: string | null;
            paths: components["schemas"]["DevPaths"];
            /** @description Saved files are taken at once; otherwise when a person asks for it. */
            reload: boolean;
            /** @description Files differ from what is in use. Only looked for where saved files are not taken at once. */
            pending: boolean;
            /** @description The agent that may use the plugin, and nothing else. */
            agentId: string;
        };
        /** @description The plugin under development. */
        DevPlugin: {
            id: string;
            name: string;
            version: string;
            /** @description Of the files in use. */
            digest?: string | null;
        };
        /** @description The places of the plugin, the sandbox and the project. */
        DevPaths: {
            pluginDir: string;
            dataDir?: string | null;
            stateDir: string;
            sessionRoot: string;
            projectRoot: string;
            /** @description The log of UI prompts, `ui-prompts.jsonl`. */
            promptLog: string;
        };
        /** @description What `chatos plugin validate` says about the files as they are. */
        DevProblems: {
            errors: components["schemas"]["ProblemEntry"][];
            warnings: components["schemas"]["ProblemEntry"][];
        };
        /** @description How the result of a made-up task is written (seed 003 §3). */
        AsyncTestInput: {
            /** @default plain */
            idForm?: components["schemas"]["AsyncIdForm"];
            /** @default markdown */
            field?: components["schemas"]["AsyncField"];
            /** @default none */
            fault?: components["schemas"]["AsyncFault"];
            /**
             * @description The text of the result; one is made up when absent.
             * @default null
             */
            text?: string | null;
        };
        /** @description How the result names its task. */
        AsyncIdForm: "plain" | "prefixed";
        /** @description Where the result has its text. */
        AsyncField: ("markdown" | "result" | "content") | "none";
        /** @description What goes wrong on purpose. */
        AsyncFault: "none" | "before_ack" | "torn_line" | "truncate" | "wrong_id";
        /** @description What came of the test. */
        AsyncTestResult: {
            taskId: string;
            /** @description As it was written. */
            requestId: string;
            matched: boolean;
            /** @description From the end of writing to the answer. */
            latencyMs?: number | null;
            /** @description What the tool call would return: the result's text, or why there is none. */
            text: string;
            /** @description The line that was appended to the log. */
            line: string;
            /** @description The line the host answered it with, which takes it off the list. */
            autoResponse?: string | null;
            timeline: components["schemas"]["AsyncTestStep"][];
        };
        /** @description One moment of the test. */
        AsyncTestStep: {
            /** @description Milliseconds since the test began. */
            atMs: number;
            what: components["schemas"]["AsyncTestMoment"];
        };
        AsyncTestMoment: "began" | "acknowledged" | "torn" | "emptied" | "written" | "matched" | "gave_up";
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
export type SignIn = components['schemas']['SignIn'];
export type SignedIn = components['schemas']['SignedIn'];
export type Challenge = components['schemas']['Challenge'];
export type Renew = components['schemas']['Renew'];
export type Empty = components['schemas']['Empty'];
export type SignInLink = components['schemas']['SignInLink'];
export type Done = components['schemas']['Done'];
export type BrowserList = components['schemas']['BrowserList'];
export type BrowserView = components['schemas']['BrowserView'];
export type BrowsersRevoked = components['schemas']['BrowsersRevoked'];
export type Status = components['schemas']['Status'];
export type NodeView = components['schemas']['NodeView'];
export type StatusCounts = components['schemas']['StatusCounts'];
export type NoticeView = components['schemas']['NoticeView'];
export type DoctorReport = components['schemas']['DoctorReport'];
export type DoctorFinding = components['schemas']['DoctorFinding'];
export type SettingList = components['schemas']['SettingList'];
export type Setting = components['schemas']['Setting'];
export type ValueSource = components['schemas']['ValueSource'];
export type SettingType = components['schemas']['SettingType'];
export type TextPair = components['schemas']['TextPair'];
export type SettingValue = components['schemas']['SettingValue'];
export type AuditCheck = components['schemas']['AuditCheck'];
export type PromptList = components['schemas']['PromptList'];
export type PromptView = components['schemas']['PromptView'];
export type PromptClient = components['schemas']['PromptClient'];
export type PromptClass = components['schemas']['PromptClass'];
export type PromptState = components['schemas']['PromptState'];
export type PromptForm = components['schemas']['PromptForm'];
export type KvForm = components['schemas']['KvForm'];
export type KvWord = components['schemas']['KvWord'];
export type FormChain = components['schemas']['FormChain'];
export type KvFormField = components['schemas']['KvFormField'];
export type ChoiceForm = components['schemas']['ChoiceForm'];
export type ChoiceWord = components['schemas']['ChoiceWord'];
export type ChoiceOption = components['schemas']['ChoiceOption'];
export type Chosen = components['schemas']['Chosen'];
export type TaskForm = components['schemas']['TaskForm'];
export type TaskConfirmWord = components['schemas']['TaskConfirmWord'];
export type TaskDraft = components['schemas']['TaskDraft'];
export type DraftPriority = components['schemas']['DraftPriority'];
export type DraftStatus = components['schemas']['DraftStatus'];
export type ChangeForm = components['schemas']['ChangeForm'];
export type FileChangeConfirmWord = components['schemas']['FileChangeConfirmWord'];
export type ResultForm = components['schemas']['ResultForm'];
export type ResultWord = components['schemas']['ResultWord'];
export type PromptSummary = components['schemas']['PromptSummary'];
export type FieldProblem = components['schemas']['FieldProblem'];
export type PromptCard = components['schemas']['PromptCard'];
export type CardVerb = components['schemas']['CardVerb'];
export type CardRisk = components['schemas']['CardRisk'];
export type CardReason = components['schemas']['CardReason'];
export type CardProject = components['schemas']['CardProject'];
export type CardSession = components['schemas']['CardSession'];
export type CardSandbox = components['schemas']['CardSandbox'];
export type CardGroup = components['schemas']['CardGroup'];
export type PromptAnswered = components['schemas']['PromptAnswered'];
export type AnswerStatus = components['schemas']['AnswerStatus'];
export type ResponseForm = components['schemas']['ResponseForm'];
export type EditedCall = components['schemas']['EditedCall'];
export type PromptPositions = components['schemas']['PromptPositions'];
export type PromptLine = components['schemas']['PromptLine'];
export type PromptCounts = components['schemas']['PromptCounts'];
export type PromptHealth = components['schemas']['PromptHealth'];
export type PromptFaults = components['schemas']['PromptFaults'];
export type PromptFacet = components['schemas']['PromptFacet'];
export type PromptRequest = components['schemas']['PromptRequest'];
export type AskerProcess = components['schemas']['AskerProcess'];
export type StarterProcess = components['schemas']['StarterProcess'];
export type PromptAsked = components['schemas']['PromptAsked'];
export type PromptText = components['schemas']['PromptText'];
export type PromptAnswer = components['schemas']['PromptAnswer'];
export type RuleOfPrompt = components['schemas']['RuleOfPrompt'];
export type PromptRecorded = components['schemas']['PromptRecorded'];
export type SnoozeOrder = components['schemas']['SnoozeOrder'];
export type PromptsTogether = components['schemas']['PromptsTogether'];
export type AnswerTogether = components['schemas']['AnswerTogether'];
export type AnsweredTogether = components['schemas']['AnsweredTogether'];
export type SkippedQuestion = components['schemas']['SkippedQuestion'];
export type BulkLook = components['schemas']['BulkLook'];
export type BulkSelect = components['schemas']['BulkSelect'];
export type PromptFilter = components['schemas']['PromptFilter'];
export type BulkAction = components['schemas']['BulkAction'];
export type BulkPreview = components['schemas']['BulkPreview'];
export type BulkItem = components['schemas']['BulkItem'];
export type BulkLeft = components['schemas']['BulkLeft'];
export type BulkOrder = components['schemas']['BulkOrder'];
export type PromptWait = components['schemas']['PromptWait'];
export type PromptAsker = components['schemas']['PromptAsker'];
export type PromptTaken = components['schemas']['PromptTaken'];
export type PromptClosed = components['schemas']['PromptClosed'];
export type PromptDraft = components['schemas']['PromptDraft'];
export type ArchiveOrder = components['schemas']['ArchiveOrder'];
export type PromptsArchived = components['schemas']['PromptsArchived'];
export type PromptEntries = components['schemas']['PromptEntries'];
export type PromptIds = components['schemas']['PromptIds'];
export type PromptCheck = components['schemas']['PromptCheck'];
export type RuleList = components['schemas']['RuleList'];
export type RuleView = components['schemas']['RuleView'];
export type NewRule = components['schemas']['NewRule'];
export type RuleKept = components['schemas']['RuleKept'];
export type PauseRule = components['schemas']['PauseRule'];
export type TryRules = components['schemas']['TryRules'];
export type RulesTried = components['schemas']['RulesTried'];
export type RuleLooked = components['schemas']['RuleLooked'];
export type BacktestRule = components['schemas']['BacktestRule'];
export type RuleBacktest = components['schemas']['RuleBacktest'];
export type RuleProposals = components['schemas']['RuleProposals'];
export type RuleProposal = components['schemas']['RuleProposal'];
export type RuleUses = components['schemas']['RuleUses'];
export type RuleUse = components['schemas']['RuleUse'];
export type ChannelList = components['schemas']['ChannelList'];
export type ChannelView = components['schemas']['ChannelView'];
export type ChannelType = components['schemas']['ChannelType'];
export type Privacy = components['schemas']['Privacy'];
export type Answering = components['schemas']['Answering'];
export type ChannelConnect = components['schemas']['ChannelConnect'];
export type ChannelState = components['schemas']['ChannelState'];
export type NewChannel = components['schemas']['NewChannel'];
export type ChannelPatch = components['schemas']['ChannelPatch'];
export type PresenceOrder = components['schemas']['PresenceOrder'];
export type RunPage = components['schemas']['RunPage'];
export type RunView = components['schemas']['RunView'];
export type RunKind = components['schemas']['RunKind'];
export type Role = components['schemas']['Role'];
export type RunState = components['schemas']['RunState'];
export type RunEnd = components['schemas']['RunEnd'];
export type RunError = components['schemas']['RunError'];
export type UsageView = components['schemas']['UsageView'];
export type StepView = components['schemas']['StepView'];
export type StepKind = components['schemas']['StepKind'];
export type StepState = components['schemas']['StepState'];
export type Sizes = components['schemas']['Sizes'];
export type Correction = components['schemas']['Correction'];
export type Corrected = components['schemas']['Corrected'];
export type BranchOrder = components['schemas']['BranchOrder'];
export type SessionView = components['schemas']['SessionView'];
export type RunBrief = components['schemas']['RunBrief'];
export type TraceView = components['schemas']['TraceView'];
export type SpanView = components['schemas']['SpanView'];
export type UsageList = components['schemas']['UsageList'];
export type SessionList = components['schemas']['SessionList'];
export type SessionOrder = components['schemas']['SessionOrder'];
export type Scratch = components['schemas']['Scratch'];
export type ChatImport = components['schemas']['ChatImport'];
export type SearchResults = components['schemas']['SearchResults'];
export type SearchHit = components['schemas']['SearchHit'];
export type MessageRole = components['schemas']['MessageRole'];
export type SessionChange = components['schemas']['SessionChange'];
export type MessagePage = components['schemas']['MessagePage'];
export type MessageView = components['schemas']['MessageView'];
export type MessageKind = components['schemas']['MessageKind'];
export type AttachmentView = components['schemas']['AttachmentView'];
export type AttachmentNote = components['schemas']['AttachmentNote'];
export type ToolCallView = components['schemas']['ToolCallView'];
export type SummaryView = components['schemas']['SummaryView'];
export type EventBatch = components['schemas']['EventBatch'];
export type SendOrder = components['schemas']['SendOrder'];
export type Attachment = components['schemas']['Attachment'];
export type SendMode = components['schemas']['SendMode'];
export type InstructionOrder = components['schemas']['InstructionOrder'];
export type Sent = components['schemas']['Sent'];
export type VersionDeleted = components['schemas']['VersionDeleted'];
export type CompactOrder = components['schemas']['CompactOrder'];
export type Compacted = components['schemas']['Compacted'];
export type ChatFile = components['schemas']['ChatFile'];
export type CommandList = components['schemas']['CommandList'];
export type CommandView = components['schemas']['CommandView'];
export type CommandKind = components['schemas']['CommandKind'];
export type CommandArgument = components['schemas']['CommandArgument'];
export type FillOrder = components['schemas']['FillOrder'];
export type Filled = components['schemas']['Filled'];
export type CompleteOrder = components['schemas']['CompleteOrder'];
export type Completions = components['schemas']['Completions'];
export type OwnCommands = components['schemas']['OwnCommands'];
export type OwnCommand = components['schemas']['OwnCommand'];
export type OwnCommandText = components['schemas']['OwnCommandText'];
export type MentionList = components['schemas']['MentionList'];
export type MentionView = components['schemas']['MentionView'];
export type MentionKind = components['schemas']['MentionKind'];
export type MentionOrder = components['schemas']['MentionOrder'];
export type MentionedFiles = components['schemas']['MentionedFiles'];
export type InstructionsView = components['schemas']['InstructionsView'];
export type InstructionConsent = components['schemas']['InstructionConsent'];
export type InstructionFile = components['schemas']['InstructionFile'];
export type InstructionState = components['schemas']['InstructionState'];
export type ConsentOrder = components['schemas']['ConsentOrder'];
export type SubagentCatalogue = components['schemas']['SubagentCatalogue'];
export type SubPlugin = components['schemas']['SubPlugin'];
export type SubAgent = components['schemas']['SubAgent'];
export type SubSkill = components['schemas']['SubSkill'];
export type SubCommand = components['schemas']['SubCommand'];
export type SubImportOrder = components['schemas']['SubImportOrder'];
export type SubImport = components['schemas']['SubImport'];
export type TaskList = components['schemas']['TaskList'];
export type TaskView = components['schemas']['TaskView'];
export type TaskNote = components['schemas']['TaskNote'];
export type TaskInput = components['schemas']['TaskInput'];
export type TaskChange = components['schemas']['TaskChange'];
export type TaskCompletion = components['schemas']['TaskCompletion'];
export type TaskClearing = components['schemas']['TaskClearing'];
export type TasksCleared = components['schemas']['TasksCleared'];
export type FileChangeList = components['schemas']['FileChangeList'];
export type FileChangeView = components['schemas']['FileChangeView'];
export type FileContent = components['schemas']['FileContent'];
export type FileChangeDetail = components['schemas']['FileChangeDetail'];
export type UndoState = components['schemas']['UndoState'];
export type UndoRequest = components['schemas']['UndoRequest'];
export type UndoAnswer = components['schemas']['UndoAnswer'];
export type UndoneFile = components['schemas']['UndoneFile'];
export type ToolServers = components['schemas']['ToolServers'];
export type ToolServer = components['schemas']['ToolServer'];
export type ToolView = components['schemas']['ToolView'];
export type ToolHints = components['schemas']['ToolHints'];
export type ToolsetView = components['schemas']['ToolsetView'];
export type ToolTold = components['schemas']['ToolTold'];
export type ToolsetProblem = components['schemas']['ToolsetProblem'];
export type CallInput = components['schemas']['CallInput'];
export type CallResult = components['schemas']['CallResult'];
export type CallTrail = components['schemas']['CallTrail'];
export type NamedCallInput = components['schemas']['NamedCallInput'];
export type CallStateView = components['schemas']['CallStateView'];
export type CancelResult = components['schemas']['CancelResult'];
export type PassedOn = components['schemas']['PassedOn'];
export type PassedEntry = components['schemas']['PassedEntry'];
export type PassOrder = components['schemas']['PassOrder'];
export type ToolNews = components['schemas']['ToolNews'];
export type ToolLogView = components['schemas']['ToolLogView'];
export type ServerList = components['schemas']['ServerList'];
export type ServerView = components['schemas']['ServerView'];
export type AuthView = components['schemas']['AuthView'];
export type OauthView = components['schemas']['OauthView'];
export type SignInView = components['schemas']['SignInView'];
export type ServerFailure = components['schemas']['ServerFailure'];
export type ServerStateView = components['schemas']['ServerStateView'];
export type ServerInput = components['schemas']['ServerInput'];
export type AuthInput = components['schemas']['AuthInput'];
export type OauthInput = components['schemas']['OauthInput'];
export type ServerImportInput = components['schemas']['ServerImportInput'];
export type ServerImport = components['schemas']['ServerImport'];
export type FoundServer = components['schemas']['FoundServer'];
export type SignInBody = components['schemas']['SignInBody'];
export type SignInStart = components['schemas']['SignInStart'];
export type SignedOut = components['schemas']['SignedOut'];
export type ServerTools = components['schemas']['ServerTools'];
export type ServerToolView = components['schemas']['ServerToolView'];
export type ServerLogView = components['schemas']['ServerLogView'];
export type PinList = components['schemas']['PinList'];
export type PinView = components['schemas']['PinView'];
export type ApproveInput = components['schemas']['ApproveInput'];
export type ApprovedTool = components['schemas']['ApprovedTool'];
export type Approved = components['schemas']['Approved'];
export type PluginListing = components['schemas']['PluginListing'];
export type PluginDirs = components['schemas']['PluginDirs'];
export type PluginEntry = components['schemas']['PluginEntry'];
export type PublisherEntry = components['schemas']['PublisherEntry'];
export type TrustEntry = components['schemas']['TrustEntry'];
export type BackendEntry = components['schemas']['BackendEntry'];
export type AppEntry = components['schemas']['AppEntry'];
export type IconEntry = components['schemas']['IconEntry'];
export type ModuleEntry = components['schemas']['ModuleEntry'];
export type AiEntry = components['schemas']['AiEntry'];
export type AppServerEntry = components['schemas']['AppServerEntry'];
export type AppPromptEntry = components['schemas']['AppPromptEntry'];
export type PromptPlace = components['schemas']['PromptPlace'];
export type PromptNameEntry = components['schemas']['PromptNameEntry'];
export type AppPlugin = components['schemas']['AppPlugin'];
export type ProblemEntry = components['schemas']['ProblemEntry'];
export type PluginDetails = components['schemas']['PluginDetails'];
export type PluginServer = components['schemas']['PluginServer'];
export type PluginExposure = components['schemas']['PluginExposure'];
export type PluginPrompt = components['schemas']['PluginPrompt'];
export type PluginFile = components['schemas']['PluginFile'];
export type PluginChanges = components['schemas']['PluginChanges'];
export type ChangedFile = components['schemas']['ChangedFile'];
export type PluginData = components['schemas']['PluginData'];
export type PluginRemoved = components['schemas']['PluginRemoved'];
export type KeptFolder = components['schemas']['KeptFolder'];
export type PluginFiles = components['schemas']['PluginFiles'];
export type TrustSheet = components['schemas']['TrustSheet'];
export type FileDiff = components['schemas']['FileDiff'];
export type CapabilityView = components['schemas']['CapabilityView'];
export type CapabilityLevel = components['schemas']['CapabilityLevel'];
export type CapabilityState = components['schemas']['CapabilityState'];
export type PluginLog = components['schemas']['PluginLog'];
export type TrustBody = components['schemas']['TrustBody'];
export type InstallBody = components['schemas']['InstallBody'];
export type OperationView = components['schemas']['OperationView'];
export type OperationState = components['schemas']['OperationState'];
export type OperationProgress = components['schemas']['OperationProgress'];
export type RefreshBody = components['schemas']['RefreshBody'];
export type AppAi = components['schemas']['AppAi'];
export type OpenBody = components['schemas']['OpenBody'];
export type Surface = components['schemas']['Surface'];
export type FrameTheme = components['schemas']['FrameTheme'];
export type FrameLang = components['schemas']['FrameLang'];
export type OpenedApp = components['schemas']['OpenedApp'];
export type BackendCallBody = components['schemas']['BackendCallBody'];
export type BackendResult = components['schemas']['BackendResult'];
export type WantedBody = components['schemas']['WantedBody'];
export type RootBody = components['schemas']['RootBody'];
export type NeededApps = components['schemas']['NeededApps'];
export type NeededApp = components['schemas']['NeededApp'];
export type MeasuredBody = components['schemas']['MeasuredBody'];
export type Confinement = components['schemas']['Confinement'];
export type BackendStatus = components['schemas']['BackendStatus'];
export type BackendPhase = components['schemas']['BackendPhase'];
export type BackendFailure = components['schemas']['BackendFailure'];
export type CapabilityList = components['schemas']['CapabilityList'];
export type AppRootView = components['schemas']['AppRootView'];
export type GrantList = components['schemas']['GrantList'];
export type GrantView = components['schemas']['GrantView'];
export type GrantChange = components['schemas']['GrantChange'];
export type ViewList = components['schemas']['ViewList'];
export type ToolWithView = components['schemas']['ToolWithView'];
export type OpenView = components['schemas']['OpenView'];
export type OpenedView = components['schemas']['OpenedView'];
export type ViewHosts = components['schemas']['ViewHosts'];
export type ViewCall = components['schemas']['ViewCall'];
export type ViewRead = components['schemas']['ViewRead'];
export type OperationList = components['schemas']['OperationList'];
export type JournalList = components['schemas']['JournalList'];
export type JournalEntryView = components['schemas']['JournalEntryView'];
export type JournalInput = components['schemas']['JournalInput'];
export type JournalProjects = components['schemas']['JournalProjects'];
export type JournalProject = components['schemas']['JournalProject'];
export type SecretList = components['schemas']['SecretList'];
export type SecretView = components['schemas']['SecretView'];
export type NewSecret = components['schemas']['NewSecret'];
export type SecretSet = components['schemas']['SecretSet'];
export type AccessList = components['schemas']['AccessList'];
export type AccessView = components['schemas']['AccessView'];
export type AccessKind = components['schemas']['AccessKind'];
export type AllowAccess = components['schemas']['AllowAccess'];
export type ExplainAccess = components['schemas']['ExplainAccess'];
export type AccessExplained = components['schemas']['AccessExplained'];
export type AccessDecision = components['schemas']['AccessDecision'];
export type AccessFinding = components['schemas']['AccessFinding'];
export type AccessGrant = components['schemas']['AccessGrant'];
export type AccessReason = components['schemas']['AccessReason'];
export type ClientList = components['schemas']['ClientList'];
export type ClientView = components['schemas']['ClientView'];
export type ClientSession = components['schemas']['ClientSession'];
export type ClientDetail = components['schemas']['ClientDetail'];
export type ClientUse = components['schemas']['ClientUse'];
export type ClientQuestion = components['schemas']['ClientQuestion'];
export type ClientCall = components['schemas']['ClientCall'];
export type ClientSeen = components['schemas']['ClientSeen'];
export type AllowClient = components['schemas']['AllowClient'];
export type ForgetClient = components['schemas']['ForgetClient'];
export type ClientsForgotten = components['schemas']['ClientsForgotten'];
export type ModelList = components['schemas']['ModelList'];
export type ModelView = components['schemas']['ModelView'];
export type ModelFactsView = components['schemas']['ModelFactsView'];
export type PriceTierView = components['schemas']['PriceTierView'];
export type ModelProblem = components['schemas']['ModelProblem'];
export type LastTest = components['schemas']['LastTest'];
export type ModelInput = components['schemas']['ModelInput'];
export type PresetList = components['schemas']['PresetList'];
export type PresetView = components['schemas']['PresetView'];
export type Pasted = components['schemas']['Pasted'];
export type RecognisedView = components['schemas']['RecognisedView'];
export type DetectedModels = components['schemas']['DetectedModels'];
export type DetectedModel = components['schemas']['DetectedModel'];
export type ModelTestView = components['schemas']['ModelTestView'];
export type OfferedModels = components['schemas']['OfferedModels'];
export type OfferedModel = components['schemas']['OfferedModel'];
export type RefreshOrder = components['schemas']['RefreshOrder'];
export type RefreshedModels = components['schemas']['RefreshedModels'];
export type RefreshedModel = components['schemas']['RefreshedModel'];
export type AgentList = components['schemas']['AgentList'];
export type AgentView = components['schemas']['AgentView'];
export type Mode = components['schemas']['Mode'];
export type PromptLang = components['schemas']['PromptLang'];
export type UiApp = components['schemas']['UiApp'];
export type AcpView = components['schemas']['AcpView'];
export type Reason = components['schemas']['Reason'];
export type AgentsSeen = components['schemas']['AgentsSeen'];
export type AgentSeen = components['schemas']['AgentSeen'];
export type AgentName = components['schemas']['AgentName'];
export type AgentInput = components['schemas']['AgentInput'];
export type AgentPreview = components['schemas']['AgentPreview'];
export type AgentExplanation = components['schemas']['AgentExplanation'];
export type LandName = components['schemas']['LandName'];
export type ServerExplanation = components['schemas']['ServerExplanation'];
export type ToolExplanation = components['schemas']['ToolExplanation'];
export type PromptExplanation = components['schemas']['PromptExplanation'];
export type GrantDifference = components['schemas']['GrantDifference'];
export type ServerUsers = components['schemas']['ServerUsers'];
export type ServerUser = components['schemas']['ServerUser'];
export type GiveInput = components['schemas']['GiveInput'];
export type GiveAsk = components['schemas']['GiveAsk'];
export type Given = components['schemas']['Given'];
export type AcpFoundList = components['schemas']['AcpFoundList'];
export type AcpFound = components['schemas']['AcpFound'];
export type AcpInput = components['schemas']['AcpInput'];
export type AcpSession = components['schemas']['AcpSession'];
export type AcpOption = components['schemas']['AcpOption'];
export type AcpChoice = components['schemas']['AcpChoice'];
export type AcpCommand = components['schemas']['AcpCommand'];
export type AcpCost = components['schemas']['AcpCost'];
export type AcpChosen = components['schemas']['AcpChosen'];
export type LandList = components['schemas']['LandList'];
export type LandView = components['schemas']['LandView'];
export type Flow = components['schemas']['Flow'];
export type ServerEntry = components['schemas']['ServerEntry'];
export type ToolFilter = components['schemas']['ToolFilter'];
export type Glob = components['schemas']['Glob'];
export type AppEntry2 = components['schemas']['AppEntry2'];
export type AgentApps = components['schemas']['AgentApps'];
export type AgentPrompts = components['schemas']['AgentPrompts'];
export type PromptEntry = components['schemas']['PromptEntry'];
export type Limits = components['schemas']['Limits'];
export type LandConfig = components['schemas']['LandConfig'];
export type CopyInput = components['schemas']['CopyInput'];
export type SystemPromptList = components['schemas']['SystemPromptList'];
export type SystemPromptView = components['schemas']['SystemPromptView'];
export type SystemPromptInput = components['schemas']['SystemPromptInput'];
export type StateImportBody = components['schemas']['StateImportBody'];
export type BackupBody = components['schemas']['BackupBody'];
export type PruneBody = components['schemas']['PruneBody'];
export type PruneView = components['schemas']['PruneView'];
export type StateImports = components['schemas']['StateImports'];
export type StateImportView = components['schemas']['StateImportView'];
export type StateKeyView = components['schemas']['StateKeyView'];
export type RotateKey = components['schemas']['RotateKey'];
export type KeyRotated = components['schemas']['KeyRotated'];
export type MoveKey = components['schemas']['MoveKey'];
export type KeyPlace = components['schemas']['KeyPlace'];
export type MovedKey = components['schemas']['MovedKey'];
export type DevInfo = components['schemas']['DevInfo'];
export type DevPlugin = components['schemas']['DevPlugin'];
export type DevPaths = components['schemas']['DevPaths'];
export type DevProblems = components['schemas']['DevProblems'];
export type AsyncTestInput = components['schemas']['AsyncTestInput'];
export type AsyncIdForm = components['schemas']['AsyncIdForm'];
export type AsyncField = components['schemas']['AsyncField'];
export type AsyncFault = components['schemas']['AsyncFault'];
export type AsyncTestResult = components['schemas']['AsyncTestResult'];
export type AsyncTestStep = components['schemas']['AsyncTestStep'];
export type AsyncTestMoment = components['schemas']['AsyncTestMoment'];
export type Ticket = components['schemas']['Ticket'];
export type Error = components['schemas']['Error'];
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
    getAuthChallenge: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Something for a signed-in browser to sign */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Challenge"];
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
    postAuthRenew: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Renew"];
            };
        };
        responses: {
            /** @description A session token for a signed-in browser, by cookie and signature */
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
            /** @description End this session and sign its browser out */
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
    getBrowsers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Browsers that are signed in */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrowserList"];
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
    deleteBrowsers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Sign all browsers out */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrowsersRevoked"];
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
    deleteBrowsersId: {
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
            /** @description Sign a browser out */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrowsersRevoked"];
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
                /** @description True: check the complete database. */
                deep?: boolean;
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
                    "application/json": components["schemas"]["DoctorReport"];
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
                    "application/json": components["schemas"]["DoctorReport"];
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
                "application/json": components["schemas"]["SettingValue"];
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
                    "application/json": components["schemas"]["AuditCheck"];
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
    getPrompts: {
        parameters: {
            query?: {
                /** @description Needs_you, snoozed, results, history or all. */
                view?: string;
                /** @description Only those of this run. */
                runId?: string;
                /** @description Only records with exactly this value. */
                source?: string;
                /** @description Only records with exactly this value. */
                kind?: string;
                /** @description Only questions whose answer has this status. */
                status?: string;
                /** @description True or false: answered by the host itself or not. */
                auto?: boolean;
                /** @description In title, message, command, path and source, and in the names of agent, tool, program, folder and chat. */
                q?: string;
                /** @description A moment, written as ISO 8601. */
                since?: string;
                /** @description A moment, written as ISO 8601. */
                until?: string;
                /** @description From the page before. */
                cursor?: string;
                /** @description At most so many, 1 to 200. */
                limit?: number;
                /** @description Only questions of this agent, by its name. */
                agent?: string;
                /** @description Only questions about this folder: its path, or its last part. */
                project?: string;
                /** @description Only questions of this other program, by its name. */
                client?: string;
                /** @description Only questions of this chat, by its id. */
                chat?: string;
                /** @description Low, medium or high. */
                risk?: string;
                /** @description Counts what waits by each of these as well. */
                facets?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Questions to the person */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptList"];
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
    postPrompts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PromptRequest"];
            };
        };
        responses: {
            /** @description Ask the person */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptAsked"];
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
    getPromptsId: {
        parameters: {
            query?: {
                /** @description The id, where it cannot travel in the path. */
                id?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One question with its answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptView"];
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
    getPromptsIdDiff: {
        parameters: {
            query?: {
                /** @description The id, where it cannot travel in the path. */
                id?: string;
                /** @description The first line, from 0. */
                from?: number;
                /** @description How many, at most 5000. */
                lines?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The whole text of a question, in parts; what was not given cannot be approved */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptText"];
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
    postPromptsIdResponse: {
        parameters: {
            query?: {
                /** @description The id, where it cannot travel in the path. */
                id?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PromptAnswer"];
            };
        };
        responses: {
            /** @description Answer a question; the first answer wins */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptRecorded"];
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
    postPromptsIdSnooze: {
        parameters: {
            query?: {
                /** @description The id, where it cannot travel in the path. */
                id?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SnoozeOrder"];
            };
        };
        responses: {
            /** @description Put a question off for a while, or back */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptView"];
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
    getPromptsIdTogether: {
        parameters: {
            query?: {
                /** @description The id, where it cannot travel in the path. */
                id?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Open questions that are asked with this one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptsTogether"];
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
    postPromptsIdTogether: {
        parameters: {
            query?: {
                /** @description The id, where it cannot travel in the path. */
                id?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AnswerTogether"];
            };
        };
        responses: {
            /** @description Approve some of the questions asked together, and refuse the others */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnsweredTogether"];
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
    postPromptsBulkPreview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkLook"];
            };
        };
        responses: {
            /** @description What one decision about many questions would answer, with a digest over it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BulkPreview"];
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
    postPromptsBulk: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BulkOrder"];
            };
        };
        responses: {
            /** @description Answer many questions, if they still are what was shown */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnsweredTogether"];
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
    getPromptsIdWait: {
        parameters: {
            query?: {
                /** @description The id, where it cannot travel in the path. */
                id?: string;
                /** @description How long to wait, at most 60000. */
                timeoutMs?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Wait for the verified answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptWait"];
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
    postPromptsIdTake: {
        parameters: {
            query?: {
                /** @description The id, where it cannot travel in the path. */
                id?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PromptAsker"];
            };
        };
        responses: {
            /** @description Take the private values, exactly once */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptTaken"];
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
    postPromptsIdClose: {
        parameters: {
            query?: {
                /** @description The id, where it cannot travel in the path. */
                id?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PromptAsker"];
            };
        };
        responses: {
            /** @description Withdraw a question */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptClosed"];
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
    postPromptsIdConsume: {
        parameters: {
            query?: {
                /** @description The id, where it cannot travel in the path. */
                id?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PromptAsker"];
            };
        };
        responses: {
            /** @description Erase the private values of an app's question */
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
    getPromptsIdDraft: {
        parameters: {
            query?: {
                /** @description The id, where it cannot travel in the path. */
                id?: string;
                /** @description An id the browser keeps. */
                client?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What this browser had typed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptDraft"];
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
    putPromptsIdDraft: {
        parameters: {
            query?: {
                /** @description The id, where it cannot travel in the path. */
                id?: string;
                /** @description An id the browser keeps. */
                client?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PromptDraft"];
            };
        };
        responses: {
            /** @description Keep what was typed */
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
    deletePromptsIdDraft: {
        parameters: {
            query?: {
                /** @description The id, where it cannot travel in the path. */
                id?: string;
                /** @description An id the browser keeps. */
                client?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Forget what was typed */
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
    postPromptsArchive: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ArchiveOrder"];
            };
        };
        responses: {
            /** @description Move old answered questions to the archive */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptsArchived"];
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
    getPromptsLog: {
        parameters: {
            query?: {
                /** @description pluginId/appId: as this app may see it. */
                app?: string;
                /** @description The app has prompts.readAll. */
                readAll?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The log as entries */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptEntries"];
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
    getPromptsFind: {
        parameters: {
            query?: {
                /** @description At least four characters. */
                prefix?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Ids that begin with a prefix */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptIds"];
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
    getPromptsCheck: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What is wrong with the log */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PromptCheck"];
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
    getRules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Rules that answer questions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleList"];
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
    postRules: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewRule"];
            };
        };
        responses: {
            /** @description Keep a rule */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleKept"];
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
    deleteRulesId: {
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
            /** @description Remove a rule */
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
    patchRulesId: {
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
                "application/json": components["schemas"]["PauseRule"];
            };
        };
        responses: {
            /** @description Pause or resume a rule */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleKept"];
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
    postRulesDecide: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TryRules"];
            };
        };
        responses: {
            /** @description What the rules would say about a call */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RulesTried"];
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
    postRulesBacktest: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BacktestRule"];
            };
        };
        responses: {
            /** @description How a rule compares with past answers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleBacktest"];
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
    getRulesProposals: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Rules that past answers suggest */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleProposals"];
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
    getRulesUses: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What rules answered of late */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleUses"];
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
    postPromptsIdRule: {
        parameters: {
            query?: {
                /** @description The id, where it cannot travel in the path. */
                id?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RuleOfPrompt"];
            };
        };
        responses: {
            /** @description The rule that would have answered a question */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RuleKept"];
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
    getChannels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Where you are told of questions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelList"];
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
    postChannels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewChannel"];
            };
        };
        responses: {
            /** @description Add a channel */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelView"];
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
    deleteChannelsId: {
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
            /** @description Remove a channel with its key */
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
    patchChannelsId: {
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
                "application/json": components["schemas"]["ChannelPatch"];
            };
        };
        responses: {
            /** @description Pause or change a channel */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelView"];
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
    postChannelsIdConnect: {
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
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Make a code with which a chat is connected */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelView"];
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
    postChannelsIdTest: {
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
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Send a test */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelView"];
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
    postPresence: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PresenceOrder"];
            };
        };
        responses: {
            /** @description A page is in use, or went out of sight */
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
    getRuns: {
        parameters: {
            query?: {
                /** @description Only the runs of this chat. */
                sessionId?: string;
                /** @description Only the runs in this state. */
                state?: string;
                /** @description `chat`, `sub`, `cli` or `client`, which is the work of other programs: only listed where it is named. */
                kind?: string;
                /** @description At most so many of them. */
                limit?: number;
                /** @description Where the next page begins, as the page before said. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Runs, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunPage"];
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
    getRunsId: {
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
            /** @description One run with its steps */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunView"];
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
    postRunsIdAbort: {
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
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Stops a run */
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
    postRunsIdResume: {
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
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Continues an interrupted run, or one that failed because its chat was too long */
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
    postRunsIdDiscard: {
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
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Gives up an interrupted run */
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
    postRunsIdSteer: {
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
                "application/json": components["schemas"]["Correction"];
            };
        };
        responses: {
            /** @description Corrects a run under way */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Corrected"];
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
    postRunsIdBranch: {
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
                "application/json": components["schemas"]["BranchOrder"];
            };
        };
        responses: {
            /** @description A new chat whose history ends at a step */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
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
    getTracesId: {
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
            /** @description All spans of a trace */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TraceView"];
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
    getUsage: {
        parameters: {
            query?: {
                /** @description Model, agent, day or session. */
                by?: string;
                /** @description A date or time. */
                since?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tokens and money */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageList"];
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
    getSessions: {
        parameters: {
            query?: {
                /** @description The archived ones instead. */
                archived?: boolean;
                /** @description At most so many of them. */
                limit?: number;
                /** @description Where the next page begins, as the page before said. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Chats, pinned ones first, then the most recent */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionList"];
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
    postSessions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SessionOrder"];
            };
        };
        responses: {
            /** @description Makes a chat */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
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
    postScratch: {
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
            /** @description Makes the folder for trying things out, outside every project */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Scratch"];
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
    postSessionsImport: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChatImport"];
            };
        };
        responses: {
            /** @description Makes a chat of an exported file; it is only read */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
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
    getSessionsSearch: {
        parameters: {
            query?: {
                /** @description The text that is looked for. */
                q?: string;
                /** @description At most so many of them. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Messages that contain a text */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchResults"];
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
    getSessionsId: {
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
            /** @description One chat with what it used */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
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
    deleteSessionsId: {
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
            /** @description Deletes a chat with its messages */
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
    patchSessionsId: {
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
                "application/json": components["schemas"]["SessionChange"];
            };
        };
        responses: {
            /** @description Changes a chat */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
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
    getSessionsIdMessages: {
        parameters: {
            query?: {
                /** @description At most so many of them. */
                limit?: number;
                /** @description Those before this message. */
                beforeId?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of messages, oldest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessagePage"];
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
    getSessionsIdEvents: {
        parameters: {
            query?: {
                /** @description The position; 0 tells the present one. */
                since?: number;
                /** @description How long to wait. */
                waitMs?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Events of a chat after a position, waiting for the first one */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventBatch"];
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
    postSessionsIdSend: {
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
                "application/json": components["schemas"]["SendOrder"];
            };
        };
        responses: {
            /** @description Sends a message; the answer comes as events */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sent"];
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
    postSessionsIdAbort: {
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
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Stops the answer under way */
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
    postSessionsIdRetry: {
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
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Answers the last message of the person again */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Sent"];
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
    postSessionsIdMessagesMessageSelect: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                message: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Shows another version of a message, with what followed it */
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
    deleteSessionsIdMessagesMessage: {
        parameters: {
            query?: {
                /** @description Say what would be deleted, and delete nothing. */
                dryRun?: boolean;
            };
            header?: never;
            path: {
                id: string;
                message: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deletes a version of a person's message with all that hangs on it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VersionDeleted"];
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
    postSessionsIdMessagesMessageFork: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
                message: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Makes a chat that begins with this one up to a message */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionView"];
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
    postSessionsIdCompact: {
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
                "application/json": components["schemas"]["CompactOrder"];
            };
        };
        responses: {
            /** @description Summarises the beginning of the chat for the model */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Compacted"];
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
    getSessionsIdExport: {
        parameters: {
            query?: {
                format?: string;
                /** @description Calls of tools and their results. */
                tools?: string;
                /** @description With what the model thought before it answered; `true`, `false`, `1` or `0`. */
                thinking?: boolean;
                /** @description Also what other versions of messages led to; in JSON alone. */
                branch?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The chat as a file, without secrets */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChatFile"];
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
    getCommands: {
        parameters: {
            query?: {
                /** @description The chat; its agent decides which servers count. */
                session?: string;
                /** @description The agent of a chat that does not exist yet; the first one when absent. */
                agent?: string;
                /** @description How long servers may take to tell their prompts, up to 2000; with 0 none is asked or started. */
                waitMs?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a person can type behind `/` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommandList"];
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
    postCommandsFill: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FillOrder"];
            };
        };
        responses: {
            /** @description The text that a typed command becomes; nothing is sent */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Filled"];
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
    postCommandsComplete: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompleteOrder"];
            };
        };
        responses: {
            /** @description What a server suggests for an argument of its prompt, or a variable of its template */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Completions"];
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
    getCommandsOwn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The person's own commands with their texts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnCommands"];
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
    putCommandsOwnName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OwnCommandText"];
            };
        };
        responses: {
            /** @description Writes one of the person's own commands */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnCommands"];
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
    deleteCommandsOwnName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Removes one of the person's own commands */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OwnCommands"];
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
    getMentions: {
        parameters: {
            query?: {
                /** @description The chat whose workspace is searched. */
                session?: string;
                /** @description The agent of a chat that does not exist yet. */
                agent?: string;
                /** @description What was typed behind `@`: letters of the path in their order. */
                q?: string;
                /**
                 * @description How long servers may take to tell their resources, up to 2000; with 0 none is asked or started, and those that
                 *     told theirs before are in the list.
                 */
                waitMs?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Files and resources that match what is typed behind `@` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MentionList"];
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
    postMentionsRead: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MentionOrder"];
            };
        };
        responses: {
            /** @description Files and resources as a message carries them; nothing is sent */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MentionedFiles"];
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
    getInstructions: {
        parameters: {
            query?: {
                /** @description A folder on this machine. */
                root?: string;
                /** @description A chat; its workspace counts. */
                session?: string;
                /** @description The agent of a chat that does not exist yet; the first one when absent. */
                agent?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Texts of a project that go with messages, and what becomes of each */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstructionsView"];
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
    putInstructions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConsentOrder"];
            };
        };
        responses: {
            /** @description Whether a project's texts are used; what is there now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstructionsView"];
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
    getSubagents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Subagents by plugin */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubagentCatalogue"];
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
    postSubagentsImport: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubImportOrder"];
            };
        };
        responses: {
            /** @description Subagents of a folder: shown first, taken with `apply` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubImport"];
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
    deleteSubagentsId: {
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
            /** @description Removes a plugin of subagents */
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
    postSubagentsIdEnable: {
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
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Switches a plugin of subagents on */
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
    postSubagentsIdDisable: {
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
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Switches a plugin of subagents off */
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
    getTasks: {
        parameters: {
            query?: {
                /** @description Default, cli or chat. */
                scope?: string;
                /** @description Only those of this chat. */
                sessionId?: string;
                /** @description Only those of this run. */
                runId?: string;
                /** @description Todo, doing, blocked or done. */
                status?: string;
                /** @description High, medium or low. */
                priority?: string;
                /** @description Only records with exactly this value. */
                tag?: string;
                /** @description In title or details. */
                q?: string;
                /** @description True: leave finished ones out. */
                open?: boolean;
                /** @description At most so many, 1 to 200. */
                limit?: number;
                /** @description From the page before. */
                cursor?: number;
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
            201: {
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
                "application/json": components["schemas"]["TaskCompletion"];
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
                "application/json": components["schemas"]["TaskClearing"];
            };
        };
        responses: {
            /** @description Delete finished or all tasks */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TasksCleared"];
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
    getChanges: {
        parameters: {
            query?: {
                /** @description Only in this root directory. */
                root?: string;
                /** @description Only with this text in the path. */
                path?: string;
                /** @description Only those of this run. */
                runId?: string;
                /** @description Only those of this chat. */
                sessionId?: string;
                /** @description Only by this server. */
                server?: string;
                /** @description Only by this tool. */
                tool?: string;
                /** @description Created, modified, deleted or moved. */
                change?: string;
                /** @description 1 to 200, else 50. */
                limit?: number;
                /** @description The `next` of the page before. */
                before?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What tools changed in files, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileChangeList"];
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
    getChangesId: {
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
            /** @description One change with its diff, and whether it can be undone */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileChangeDetail"];
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
    postChangesUndo: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UndoRequest"];
            };
        };
        responses: {
            /** @description Undo changes of one root, all or none */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UndoAnswer"];
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
    getTools: {
        parameters: {
            query?: {
                /** @description Id or name of an agent. */
                agent?: string;
                /** @description The role the agent has: main or sub. */
                role?: string;
                /** @description How long servers may take to start; those that are late come with the next list. */
                waitMs?: number;
                /** @description With what a client is told that the tools are passed on to. */
                told?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Built-in servers and their tools without schemas, or the tools of an agent */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolServers"];
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
    getToolsServer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                server: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One server with the schemas of its tools */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolServer"];
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
    postToolsServerToolCall: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                server: string;
                tool: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CallInput"];
            };
        };
        responses: {
            /** @description Call a tool and wait for its result; closing the connection cancels it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallResult"];
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
    postToolsCall: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NamedCallInput"];
            };
        };
        responses: {
            /** @description Call a tool named in the body */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallResult"];
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
    getToolsCallsCallId: {
        parameters: {
            query?: {
                /** @description How many of its questions the caller knows already. */
                after?: number;
                /** @description How often the caller heard it speak; absent: what it says is not waited for. */
                said?: number;
                /** @description Wait this long for another, at most 25000. */
                waitMs?: number;
            };
            header?: never;
            path: {
                callId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How a call by hand stands: whether it runs, and what it asked a person */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallStateView"];
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
    postToolsCallsCallIdCancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                callId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Cancel a running call */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CancelResult"];
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
    getPassedOn: {
        parameters: {
            query?: {
                /** @description The agent whose grants count. */
                agent?: string;
                /** @description How long servers may take to tell theirs. */
                waitMs?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Prompts, resources and instructions of an agent's servers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PassedOn"];
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
    postPassedOnAsk: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PassOrder"];
            };
        };
        responses: {
            /** @description Ask a granted server for a prompt, a resource or a completion */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
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
    getToolNews: {
        parameters: {
            query?: {
                /** @description From the answer before; 0 only tells the position. */
                since?: number;
                /** @description How long to wait, at most 25000. */
                waitMs?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Waits until tools, servers or grants changed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolNews"];
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
    getToolLog: {
        parameters: {
            query?: {
                /** @description Tool_call, tool_result or tool_error. */
                type?: string;
                /** @description Only records with exactly this value. */
                server?: string;
                /** @description Only records with exactly this value. */
                tool?: string;
                /** @description Only records with exactly this value. */
                status?: string;
                /** @description Only records with exactly this value. */
                code?: string;
                /** @description Only records with exactly this value. */
                runId?: string;
                /** @description Only records with exactly this value. */
                sessionId?: string;
                /** @description Only records with exactly this value. */
                callId?: string;
                /** @description Only calls that failed, or only those that did not. */
                isError?: boolean;
                /** @description Anywhere in the record. */
                q?: string;
                /** @description Not before this time, ISO 8601. */
                since?: string;
                /** @description Not after this time, ISO 8601. */
                until?: string;
                /** @description 1 to 500. */
                limit?: number;
                /** @description From the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Calls of tools, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolLogView"];
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
    getMcpServers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every MCP server the host knows, with its state */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerList"];
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
    postMcpServers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ServerInput"];
            };
        };
        responses: {
            /** @description Add a server */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerView"];
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
    getMcpServersId: {
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
            /** @description One server */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerView"];
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
    putMcpServersId: {
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
                "application/json": components["schemas"]["ServerInput"];
            };
        };
        responses: {
            /** @description Change a server; absent keys stay as they are */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerView"];
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
    deleteMcpServersId: {
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
            /** @description Remove a server and end its process */
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
    postMcpServersImport: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ServerImportInput"];
            };
        };
        responses: {
            /** @description Read the servers of another client's file, and take them over with `apply` */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerImport"];
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
    postMcpServersIdConnect: {
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
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Start a server and wait for it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerView"];
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
    postMcpServersIdRestart: {
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
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Start a server anew; its failures are forgotten */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerView"];
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
    postMcpServersIdStop: {
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
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Stop a server until it is restarted */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerView"];
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
    postMcpServersIdSignIn: {
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
                "application/json": components["schemas"]["SignInBody"];
            };
        };
        responses: {
            /** @description Begin a sign-in to a server that wants one; the person goes to the address */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignInStart"];
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
    deleteMcpServersIdSignIn: {
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
            /** @description Sign out: end what was given, there and here */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedOut"];
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
    getMcpServersIdTools: {
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
            /** @description The tools of a server; it is started for that */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerTools"];
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
    getMcpServersIdLog: {
        parameters: {
            query?: {
                /** @description 1 to 2000. */
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The newest lines of a server's log */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerLogView"];
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
    getToolPins: {
        parameters: {
            query?: {
                /** @description Changed, new, approved or all; changed and new when absent. */
                state?: string;
                /** @description Id, identity or name. */
                server?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tools that differ from what was approved */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PinList"];
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
    postToolPinsApprove: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApproveInput"];
            };
        };
        responses: {
            /** @description Approve tools as they were shown */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Approved"];
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
    getPlugins: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All plugins, apps and problems */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginListing"];
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
    getPluginsId: {
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
            /** @description One plugin in full */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginDetails"];
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
    deletePluginsId: {
        parameters: {
            query?: {
                /** @description Keep or delete; keep when absent. */
                data?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Remove a plugin (?data=keep|delete) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginRemoved"];
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
    getPluginsIdFiles: {
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
            /** @description Files of a plugin */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginFiles"];
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
    getPluginsIdTrustSheet: {
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
            /** @description Everything to decide by, with what changed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrustSheet"];
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
    getPluginsIdDiff: {
        parameters: {
            query?: {
                /** @description Path of the file in the plugin. */
                path?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One file as trusted and as it is */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FileDiff"];
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
    getPluginsIdLog: {
        parameters: {
            query?: {
                /** @description The newest lines, 500 when absent. */
                limit?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Newest output of its processes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginLog"];
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
    postPluginsIdTrust: {
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
                "application/json": components["schemas"]["TrustBody"];
            };
        };
        responses: {
            /** @description Trust exactly these bytes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginEntry"];
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
    postPluginsIdUntrust: {
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
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Take trust back */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginEntry"];
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
    postPluginsInstall: {
        parameters: {
            query?: {
                /** @description Tolerate errors of apps, compact entries, backends and `ai` parts. */
                allowProblems?: boolean;
                /** @description Only say what would change. */
                dryRun?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InstallBody"];
            };
        };
        responses: {
            /** @description Install a package by path, or by a body of type application/zip */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationView"];
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
    postPluginsRefresh: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RefreshBody"];
            };
        };
        responses: {
            /** @description Look at the plugin directories again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginListing"];
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
    getAppsAppAi: {
        parameters: {
            query?: {
                /** @description True: also for an app nobody trusts. */
                preview?: boolean;
            };
            header?: never;
            path: {
                app: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What an app (PLUGIN.APP) contributes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppAi"];
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
    postAppsPluginAppOpen: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                plugin: string;
                app: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenBody"];
            };
        };
        responses: {
            /** @description Address and handshake of an app's frame */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenedApp"];
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
    postAppsPluginAppBackend: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                plugin: string;
                app: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BackendCallBody"];
            };
        };
        responses: {
            /** @description Call a method of an app's own backend */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackendResult"];
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
    postAppsPluginAppClosed: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                plugin: string;
                app: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description A frame was closed: private values of its questions are erased */
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
    postAppsPluginAppWanted: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                plugin: string;
                app: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WantedBody"];
            };
        };
        responses: {
            /** @description The page refused an app a capability; shown on the plugin's page */
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
    postAppsPluginRootsForget: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                plugin: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RootBody"];
            };
        };
        responses: {
            /** @description Take a folder back from a plugin's apps; they may ask for it again */
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
    postAppsCallsCallCancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                call: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Cancel a call of a backend by its callId */
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
    getAppsNeeded: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Apps whose front end is needed now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NeededApps"];
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
    putAppsConfinement: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MeasuredBody"];
            };
        };
        responses: {
            /** @description The page says whether its browser keeps pages of apps off the network */
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
    getAppsPluginBackend: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                plugin: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How the backend of a plugin stands */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackendStatus"];
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
    postAppsPluginBackendRestart: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                plugin: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Start the backend of a plugin again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackendStatus"];
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
    getAppsPluginLog: {
        parameters: {
            query?: {
                /** @description The newest lines, 500 when absent. */
                limit?: number;
            };
            header?: never;
            path: {
                plugin: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Newest output of a plugin's processes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PluginLog"];
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
    getAdminState: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What apps may know of the settings: models, servers, prompts; secrets masked */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
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
    getAppsPluginCapabilities: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                plugin: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What the apps of a plugin may call */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CapabilityList"];
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
    getGrants: {
        parameters: {
            query?: {
                /** @description Only those about this plugin. */
                pluginId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Decisions about capabilities of apps */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GrantList"];
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
    putGrants: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GrantChange"];
            };
        };
        responses: {
            /** @description Give a capability to apps, take it back, or forget the decision */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GrantList"];
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
    getViews: {
        parameters: {
            query?: {
                /** @description The server's identity, row id or name. */
                server?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tools of a server that have a view, as far as they were listed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ViewList"];
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
    postViews: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenView"];
            };
        };
        responses: {
            /** @description Read the view of a tool from its server, to be shown in a frame */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenedView"];
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
    postViewsViewCall: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                view: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ViewCall"];
            };
        };
        responses: {
            /** @description Call a tool of a view's own server */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
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
    postViewsViewRead: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                view: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ViewRead"];
            };
        };
        responses: {
            /** @description Read a resource of a view's own server */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
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
    getOperations: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Long work of this start, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationList"];
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
    getOperationsId: {
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
            /** @description How far long work is */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationView"];
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
    postOperationsIdCancel: {
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
                "application/json": components["schemas"]["Empty"];
            };
        };
        responses: {
            /** @description Ask long work to stop */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationView"];
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
                /** @description The host's project when absent. */
                projectRoot?: string;
                /** @description Only records with exactly this value. */
                tag?: string;
                /** @description In all texts. */
                q?: string;
                /** @description At most so many, 1 to 200. */
                limit?: number;
                /** @description From the page before. */
                cursor?: number;
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
                    "application/json": components["schemas"]["JournalList"];
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
                "application/json": components["schemas"]["JournalInput"];
            };
        };
        responses: {
            /** @description Add an entry */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JournalEntryView"];
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
                    "application/json": components["schemas"]["JournalProjects"];
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
                /** @description The host's project when absent. */
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
                    "application/json": components["schemas"]["JournalEntryView"];
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
    getSecrets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Names of secrets, never their values */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretList"];
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
    putSecretsName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSecret"];
            };
        };
        responses: {
            /** @description Set a secret */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretSet"];
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
    deleteSecretsName: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Remove a secret */
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
    getAccess: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What commands may use besides, by project */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccessList"];
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
    postAccess: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AllowAccess"];
            };
        };
        responses: {
            /** @description Open a path or a machine to the commands of a project */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccessView"];
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
    deleteAccessId: {
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
            /** @description Take it back */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccessView"];
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
    postAccessExplain: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExplainAccess"];
            };
        };
        responses: {
            /** @description What a command could touch and why, without running it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccessExplained"];
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
    getClients: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Programs that ask over a connection of their own */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientList"];
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
    getClientsId: {
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
            /** @description A session of a program: what it may use, asked and called last */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientDetail"];
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
    postClientsSeen: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClientSeen"];
            };
        };
        responses: {
            /** @description A session was written down by its own process */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Empty"];
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
    postClientsAllow: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AllowClient"];
            };
        };
        responses: {
            /** @description Let a program decide about its own calls */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientView"];
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
    postClientsForget: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ForgetClient"];
            };
        };
        responses: {
            /** @description Forget a program, or one of its sessions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientsForgotten"];
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
    getModels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Models */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelList"];
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
    postModels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelInput"];
            };
        };
        responses: {
            /** @description Add a model */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelView"];
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
    getModelsPresets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Vendors that are known */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PresetList"];
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
    postModelsRecognise: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Pasted"];
            };
        };
        responses: {
            /** @description What a pasted key or address belongs to; it is not stored */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecognisedView"];
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
    postModelsDetect: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Look for model servers on this machine; nothing is added */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DetectedModels"];
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
    postModelsTest: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelInput"];
            };
        };
        responses: {
            /** @description One minimal call to a model that is not saved */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelTestView"];
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
    postModelsOffered: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModelInput"];
            };
        };
        responses: {
            /** @description Chat models of a vendor or server, by its own list */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OfferedModels"];
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
    postModelsRefresh: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RefreshOrder"];
            };
        };
        responses: {
            /** @description Ask vendors what they say about the models */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RefreshedModels"];
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
    getModelsId: {
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
            /** @description One model */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelView"];
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
    putModelsId: {
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
                "application/json": components["schemas"]["ModelInput"];
            };
        };
        responses: {
            /** @description Change a model */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelView"];
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
    deleteModelsId: {
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
            /** @description Remove a model */
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
    postModelsIdDefault: {
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
            /** @description Make a model the default */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelView"];
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
    postModelsIdTest: {
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
            /** @description One minimal call */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelTestView"];
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
    postModelsIdReset: {
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
            /** @description Forget what a person said about its facts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelView"];
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
    getAgents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Agents */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentList"] | components["schemas"]["AgentsSeen"];
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
    postAgents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentInput"];
            };
        };
        responses: {
            /** @description Make an agent */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentView"];
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
    postAgentsPreview: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentPreview"];
            };
        };
        responses: {
            /** @description What an agent could do after a change, and what differs from now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentExplanation"];
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
    getAgentsId: {
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
            /** @description One agent */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentView"] | components["schemas"]["AgentSeen"];
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
    putAgentsId: {
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
                "application/json": components["schemas"]["AgentInput"];
            };
        };
        responses: {
            /** @description Change an agent */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentView"];
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
    deleteAgentsId: {
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
            /** @description Remove an agent */
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
    getAgentsIdExplain: {
        parameters: {
            query?: {
                /** @description Main or sub; main when absent. */
                role?: string;
                /** @description Only tools of this name or pattern. */
                tool?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Why an agent may or may not use each server, tool and prompt */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentExplanation"];
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
    getGrantsServers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Which agents may use each server */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServerUsers"];
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
    postGrantsServers: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GiveInput"];
            };
        };
        responses: {
            /** @description Give a server or app to an agent, or take it back */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Given"];
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
    getAcpDetect: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Other agents on this machine; nothing is started to find out */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AcpFoundList"];
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
    postAcpAgents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AcpInput"];
            };
        };
        responses: {
            /** @description Make an agent of another program */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentView"];
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
    getAcpSessionsId: {
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
            /** @description What a chat has of an agent that is another program */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AcpSession"];
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
    postAcpSessionsId: {
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
                "application/json": components["schemas"]["AcpChosen"];
            };
        };
        responses: {
            /** @description Choose a mode or an option of that agent */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AcpSession"];
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
    getLandConfigs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description land_configs */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LandList"];
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
    postLandConfigs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LandConfig"];
            };
        };
        responses: {
            /** @description Make a land_config */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LandView"];
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
    getLandConfigsSchema: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description JSON Schema of a land_config */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
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
    getLandConfigsId: {
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
            /** @description One land_config */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LandView"];
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
    putLandConfigsId: {
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
                "application/json": components["schemas"]["LandConfig"];
            };
        };
        responses: {
            /** @description Replace a land_config */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LandView"];
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
    deleteLandConfigsId: {
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
            /** @description Remove a land_config nobody uses */
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
    postLandConfigsIdCopy: {
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
                "application/json": components["schemas"]["CopyInput"];
            };
        };
        responses: {
            /** @description Copy a land_config under another name */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LandView"];
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
    getSystemPrompts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Texts for models */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SystemPromptList"];
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
    postSystemPrompts: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SystemPromptInput"];
            };
        };
        responses: {
            /** @description Make a text */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SystemPromptView"];
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
    getSystemPromptsId: {
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
            /** @description One text */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SystemPromptView"];
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
    putSystemPromptsId: {
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
                "application/json": components["schemas"]["SystemPromptInput"];
            };
        };
        responses: {
            /** @description Change a text */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SystemPromptView"];
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
    deleteSystemPromptsId: {
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
            /** @description Remove a text */
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
    postSystemPromptsIdReset: {
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
            /** @description Give a built-in text back its own content */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SystemPromptView"];
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
    postStateImport: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StateImportBody"];
            };
        };
        responses: {
            /** @description Take over the state of an older program */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationView"];
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
    postStateBackup: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BackupBody"];
            };
        };
        responses: {
            /** @description Keep the whole state in a file */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationView"];
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
    postStatePrune: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PruneBody"];
            };
        };
        responses: {
            /** @description Remove old finished runs */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PruneView"];
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
    getStateImports: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was taken over */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StateImports"];
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
    getStateKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The state key: its id and where it is kept */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StateKeyView"];
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
    postStateKeyRotate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RotateKey"];
            };
        };
        responses: {
            /** @description A new state key */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyRotated"];
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
    postStateKeyMove: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MoveKey"];
            };
        };
        responses: {
            /** @description Move the state key to the keychain or to a file */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MovedKey"];
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
    getDev: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What is under development here, and where (`chatos dev` only) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DevInfo"];
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
    getDevProblems: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What `chatos plugin validate` says about the files as they are (`chatos dev` only) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DevProblems"];
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
    postDevAsyncTest: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AsyncTestInput"];
            };
        };
        responses: {
            /** @description Write the result of a made-up task and wait for it as a tool call does (`chatos dev` only) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AsyncTestResult"];
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

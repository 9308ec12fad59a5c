//! The table of codes with their texts: message and hint, English and Chinese.

use super::Lang;

macro_rules! codes {
    ($($name:ident $code:literal { en: $en:literal, $en_hint:literal; zh: $zh:literal, $zh_hint:literal })*) => {
        /// Every code of `ui-prompts §5` and `§6`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = $en] $name,)*
        }

        impl Code {
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $code,)* }
            }

            // (message, hint)
            pub(super) fn texts(self, lang: Lang) -> (&'static str, &'static str) {
                match (self, lang) {
                    $((Code::$name, Lang::En) => ($en, $en_hint),
                      (Code::$name, Lang::Zh) => ($zh, $zh_hint),)*
                }
            }
        }
    };
}

codes! {
    // Requests (§5).
    PromptRequired "prompt_required" {
        en: "`prompt` must be an object", "send {\"prompt\":{\"kind\":…}}";
        zh: "`prompt` 必须是对象", "请发送 {\"prompt\":{\"kind\":…}}"
    }
    KindRequired "kind_required" {
        en: "`kind` is missing", "use one of kv, choice, task_confirm, file_change_confirm, result";
        zh: "缺少 `kind`", "可用值：kv、choice、task_confirm、file_change_confirm、result"
    }
    KindUnsupported "kind_unsupported" {
        en: "kind `{0}` is not known", "use one of kv, choice, task_confirm, file_change_confirm, result";
        zh: "未知的 kind `{0}`", "可用值：kv、choice、task_confirm、file_change_confirm、result"
    }
    TypeString "type_string" {
        en: "`{0}` must be a string", "give a string, or leave the key out";
        zh: "`{0}` 必须是字符串", "请填写字符串，或去掉该键"
    }
    TypeBoolean "type_boolean" {
        en: "`{0}` must be true or false", "give a boolean, or leave the key out";
        zh: "`{0}` 必须是布尔值", "请填写 true 或 false，或去掉该键"
    }
    IdInvalid "id_invalid" {
        en: "`{0}` is not a usable id", "use 1 to 256 bytes without control characters, or leave it out and the host makes one";
        zh: "`{0}` 不是可用的 ID", "长度 1 到 256 字节且不含控制字符；留空则由宿主生成"
    }
    IdConflict "id_conflict" {
        en: "request id `{0}` is already used by another question", "use a new id, or leave it out and the host makes one";
        zh: "请求 ID `{0}` 已被另一个问题使用", "请换一个新的 ID，或留空由宿主生成"
    }
    FieldsRequired "fields_required" {
        en: "`fields` must be an array", "give 1 to 50 fields, each with a `key`";
        zh: "`fields` 必须是数组", "请提供 1 到 50 个字段，每个都有 `key`"
    }
    FieldsCount "fields_count" {
        en: "`fields` has {0} entries; 1 to 50 are allowed", "split a larger form into several prompts";
        zh: "`fields` 有 {0} 项，允许 1 到 50 项", "更大的表单请拆成多个交互"
    }
    FieldObject "field_object" {
        en: "field {0} must be an object", "write {\"key\":\"name\",\"label\":\"Name\"}";
        zh: "第 {0} 个字段必须是对象", "写成 {\"key\":\"name\",\"label\":\"姓名\"}"
    }
    FieldKeyRequired "field_key_required" {
        en: "field {0} needs a non-empty `key`", "the answer is returned under this key";
        zh: "第 {0} 个字段缺少非空的 `key`", "答案会以这个键返回"
    }
    FieldKeyDuplicate "field_key_duplicate" {
        en: "key `{0}` is used twice", "give every field its own key";
        zh: "键 `{0}` 重复", "每个字段请使用不同的键"
    }
    OptionsRequired "options_required" {
        en: "`options` must be an array", "give 1 to 60 options, each with a `value`";
        zh: "`options` 必须是数组", "请提供 1 到 60 个选项，每个都有 `value`"
    }
    OptionsCount "options_count" {
        en: "`options` has {0} entries; 1 to 60 are allowed", "ask in two steps, or group the options";
        zh: "`options` 有 {0} 项，允许 1 到 60 项", "请分两步询问，或合并选项"
    }
    OptionObject "option_object" {
        en: "option {0} must be an object", "write {\"value\":\"a\",\"label\":\"A\"}";
        zh: "第 {0} 个选项必须是对象", "写成 {\"value\":\"a\",\"label\":\"A\"}"
    }
    OptionValueRequired "option_value_required" {
        en: "option {0} needs a non-empty string `value`", "the answer returns this value";
        zh: "第 {0} 个选项缺少非空字符串 `value`", "答案会返回这个值"
    }
    OptionValueDuplicate "option_value_duplicate" {
        en: "option value `{0}` is used twice", "give every option its own value";
        zh: "选项值 `{0}` 重复", "每个选项请使用不同的值"
    }
    DefaultType "default_type" {
        en: "`default` must be {0}", "a single choice takes a string, a multiple choice an array of strings";
        zh: "`default` 必须是 {0}", "单选使用字符串，多选使用字符串数组"
    }
    DefaultUnknown "default_unknown" {
        en: "`default` cannot be `{0}`", "every default is the value of an option, and there are at most `maxSelections` of them";
        zh: "`default` 不能是 `{0}`", "默认值必须来自选项的值，且不超过 `maxSelections` 个"
    }
    DefaultDuplicate "default_duplicate" {
        en: "default `{0}` is listed twice", "list each default once";
        zh: "默认值 `{0}` 重复", "每个默认值只写一次"
    }
    MinRange "min_range" {
        en: "`minSelections` must be a whole number from 0 to {0}", "leave it out for no minimum";
        zh: "`minSelections` 必须是 0 到 {0} 的整数", "不需要下限时可省略"
    }
    MaxRange "max_range" {
        en: "`maxSelections` must be a whole number from 1 to {0}", "leave it out for no maximum";
        zh: "`maxSelections` 必须是 1 到 {0} 的整数", "不需要上限时可省略"
    }
    MinGtMax "min_gt_max" {
        en: "`minSelections` ({0}) is larger than `maxSelections` ({1})", "make the minimum at most the maximum";
        zh: "`minSelections`（{0}）大于 `maxSelections`（{1}）", "下限不能大于上限"
    }
    TasksType "tasks_type" {
        en: "`tasks` must be an array of at most 200 tasks", "leave it out for an empty list";
        zh: "`tasks` 必须是数组，最多 200 个任务", "空列表可以省略该键"
    }
    TaskObject "task_object" {
        en: "task {0} must be an object", "write {\"title\":\"…\",\"details\":\"…\"}";
        zh: "第 {0} 个任务必须是对象", "写成 {\"title\":\"…\",\"details\":\"…\"}"
    }
    TaskPriority "task_priority" {
        en: "priority of task {0} must be high, medium or low", "leave it out for medium";
        zh: "第 {0} 个任务的优先级必须是 high、medium 或 low", "省略时为 medium"
    }
    TaskStatus "task_status" {
        en: "status of task {0} must be todo, doing, blocked or done", "leave it out for todo";
        zh: "第 {0} 个任务的状态必须是 todo、doing、blocked 或 done", "省略时为 todo"
    }
    TaskTags "task_tags" {
        en: "tags of task {0} must be an array of strings", "leave it out for none";
        zh: "第 {0} 个任务的标签必须是字符串数组", "没有标签时可省略"
    }
    TaskDraftDuplicate "task_draft_duplicate" {
        en: "draft id `{0}` is used twice", "give every task its own `draftId`, or leave it out";
        zh: "草稿 ID `{0}` 重复", "每个任务请使用不同的 `draftId`，或留空"
    }
    ResultTextRequired "result_text_required" {
        en: "a result needs `markdown`, `result` or `content`", "give at least one of them as a string, object or array";
        zh: "结果需要 `markdown`、`result` 或 `content`", "至少提供其中之一，类型为字符串、对象或数组"
    }
    TimeoutRange "timeout_range" {
        en: "`timeoutMs` must be 0 or a whole number from 1000 to 2147483647", "0 or no key waits for ever";
        zh: "`timeoutMs` 必须是 0 或 1000 到 2147483647 的整数", "0 或省略表示一直等待"
    }
    ChainShape "chain_shape" {
        en: "`chain` must be {id, step, of?}", "id is 1 to 128 bytes, step and of are whole numbers from 1";
        zh: "`chain` 必须是 {id, step, of?}", "id 为 1 到 128 字节，step 与 of 为从 1 开始的整数"
    }
    TooLarge "too_large" {
        en: "the entry is too large: {0}", "{1}";
        zh: "内容过大：{0}", "{1}"
    }
    SecretDefault "secret_default" {
        en: "the default of secret field `{0}` is neither logged nor shown", "leave defaults of secret fields out";
        zh: "保密字段 `{0}` 的默认值不会被记录或显示", "保密字段请不要提供默认值"
    }
    SecretMultiline "secret_multiline" {
        en: "field `{0}` is secret and multi-line; it is drawn as a masked multi-line box", "drop one of the two if that is not meant";
        zh: "字段 `{0}` 既保密又多行，将显示为遮盖的多行输入框", "若非本意，请去掉其中一项"
    }

    // Answers (§6).
    UnknownRequest "unknown_request" {
        en: "no question has the id `{0}`", "list what waits with `chatos prompts list`";
        zh: "没有 ID 为 `{0}` 的问题", "用 `chatos prompts list` 查看待处理的问题"
    }
    AlreadyAnswered "already_answered" {
        en: "`{0}` was already answered: {1}", "the first answer counts; nothing was changed";
        zh: "`{0}` 已有答案：{1}", "以第一个答案为准，本次没有改变任何内容"
    }
    AskerGone "asker_gone" {
        en: "nobody is waiting for this any more; nothing was done", "let the program ask again";
        zh: "已无人等待此问题，未执行任何操作", "请让该程序重新提问"
    }
    OwnAsker "own_asker" {
        en: "this question cannot be answered from inside the program that asked it",
            "answer it on the page or in a terminal of your own";
        zh: "不能在提问程序内部回答此问题", "请在页面上或你自己的终端中回答"
    }
    NotOwner "not_owner" {
        en: "`{0}` may not answer this question", "an app answers only what it asked itself";
        zh: "`{0}` 无权回答这个问题", "应用只能回答自己提出的问题"
    }
    NotShown "not_shown" {
        en: "not everything that `{0}` is about was shown", "load the whole text first: \"Show all\" on the page, `chatos prompts show ID --diff` in a terminal; content that cannot be shown needs `withoutSeeing: true`";
        zh: "`{0}` 涉及的内容尚未全部展示", "请先加载全文：页面上的“显示全部”，或终端中的 `chatos prompts show ID --diff`；无法展示的内容需要 `withoutSeeing: true`"
    }
    ShownMismatch "shown_mismatch" {
        en: "what was shown is not what would happen now", "look at the question again and answer with its current `shown` digest";
        zh: "所展示的内容与当前将要执行的不一致", "请重新查看问题，并带上当前的 `shown` 摘要作答"
    }
    ResponseRequired "response_required" {
        en: "`response` must be an object", "send {\"response\":{\"status\":\"ok\",…}}";
        zh: "`response` 必须是对象", "请发送 {\"response\":{\"status\":\"ok\",…}}"
    }
    StatusRequired "status_required" {
        en: "`status` is missing", "use ok or canceled";
        zh: "缺少 `status`", "可用值：ok、canceled"
    }
    StatusUnsupported "status_unsupported" {
        en: "status `{0}` cannot be given here", "use ok or canceled";
        zh: "此处不能使用状态 `{0}`", "可用值：ok、canceled"
    }
    CancelNotAllowed "cancel_not_allowed" {
        en: "this question cannot be canceled", "answer it; the asker set allowCancel to false";
        zh: "这个问题不允许取消", "请作答；提问方设置了 allowCancel=false"
    }
    ValuesRequired "values_required" {
        en: "`values` must be an object", "send {\"values\":{\"key\":\"text\"}}";
        zh: "`values` 必须是对象", "请发送 {\"values\":{\"键\":\"文本\"}}"
    }
    ValueType "value_type" {
        en: "the value of `{0}` must be a string", "write numbers and switches as text";
        zh: "`{0}` 的值必须是字符串", "数字与开关请写成文本"
    }
    UnknownKey "unknown_key" {
        en: "the question has no field `{0}`", "answer only the keys that were asked";
        zh: "问题中没有字段 `{0}`", "只回答所询问的键"
    }
    RequiredMissing "required_missing" {
        en: "`{0}` must be filled in", "give a value that is not blank";
        zh: "必须填写 `{0}`", "请填写非空内容"
    }
    ValueFormat "value_format" {
        en: "`{0}` must be {1}", "correct the value and send again";
        zh: "`{0}` 必须是 {1}", "请改正后重新提交"
    }
    SelectionRequired "selection_required" {
        en: "choose one option", "send {\"selection\":\"value\"}";
        zh: "请选择一项", "请发送 {\"selection\":\"值\"}"
    }
    SelectionType "selection_type" {
        en: "`selection` must be {0}", "a single choice takes a string, a multiple choice an array of strings";
        zh: "`selection` 必须是 {0}", "单选使用字符串，多选使用字符串数组"
    }
    SelectionUnknown "selection_unknown" {
        en: "`{0}` is not one of the options", "choose from the listed values";
        zh: "`{0}` 不在选项中", "请从所列的值中选择"
    }
    SelectionDuplicate "selection_duplicate" {
        en: "`{0}` is chosen twice", "name each option once";
        zh: "`{0}` 被重复选择", "每个选项只写一次"
    }
    TooFew "too_few" {
        en: "choose at least {0}; {1} chosen", "choose more options";
        zh: "至少选择 {0} 项，当前 {1} 项", "请选择更多选项"
    }
    TooMany "too_many" {
        en: "choose at most {0}; {1} chosen", "choose fewer options";
        zh: "最多选择 {0} 项，当前 {1} 项", "请减少选项"
    }
    TasksRequired "tasks_required" {
        en: "`tasks` must be an array", "send the list as edited; an empty list creates nothing";
        zh: "`tasks` 必须是数组", "请发送编辑后的列表；空列表表示不创建任务"
    }
    TaskTitleRequired "task_title_required" {
        en: "task {0} needs a title", "give it a title or remove it";
        zh: "第 {0} 个任务缺少标题", "请填写标题或删除该任务"
    }
    DraftDuplicate "draft_duplicate" {
        en: "draft id `{0}` is used twice", "keep each task's own `draftId`; leave it out for new tasks";
        zh: "草稿 ID `{0}` 重复", "请保留每个任务自己的 `draftId`；新任务可留空"
    }
    RemarkType "remark_type" {
        en: "`remark` must be a string of at most 16 KiB", "shorten it, or leave it out";
        zh: "`remark` 必须是不超过 16 KiB 的字符串", "请缩短，或去掉备注"
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

//! Thirty servers with twelve tools each, in English and Chinese, and forty requests as people and models write them; for
//! the ranking alone and for the built program.

/// A tool as its server offers it.
#[derive(Debug, Clone)]
pub(crate) struct Offered {
    pub(crate) server: &'static str,
    pub(crate) tool: String,
    pub(crate) description: String,
    pub(crate) parameter: &'static str,
    pub(crate) about: &'static str,
}

/// Server, what it is, and the things its tools work on.
const ENGLISH: [(&str, &str, [&str; 4]); 15] = [
    ("github", "repositories on GitHub", ["issue", "pull request", "branch", "release"]),
    ("gitlab", "projects on GitLab", ["merge request", "pipeline", "runner", "snippet"]),
    ("jira", "projects in Jira", ["ticket", "sprint", "epic", "worklog"]),
    ("slack", "the Slack workspace", ["message", "channel", "reaction", "reminder"]),
    ("gmail", "the mailbox", ["email", "draft", "label", "filter rule"]),
    ("calendar", "the person's calendar", ["event", "meeting room booking", "invitation", "holiday"]),
    ("drive", "files in cloud storage", ["document", "folder", "share link", "comment"]),
    ("notion", "the Notion wiki", ["page", "database entry", "template", "bookmark"]),
    ("postgres", "a PostgreSQL database", ["table", "index", "query plan", "schema migration"]),
    ("redis", "a Redis cache", ["key", "stream entry", "subscription", "expiry"]),
    ("docker", "the Docker engine", ["container", "image", "volume", "network"]),
    ("kubernetes", "a Kubernetes cluster", ["pod", "deployment", "secret", "namespace"]),
    ("s3", "object storage buckets", ["object", "bucket", "lifecycle policy", "upload"]),
    ("stripe", "payments with Stripe", ["invoice", "refund", "customer", "coupon"]),
    ("spotify", "music on Spotify", ["playlist", "song", "podcast", "artist"]),
];
const CHINESE: [(&str, &str, [&str; 4]); 15] = [
    ("feishu", "飞书工作区", ["多维表格记录", "群聊消息", "审批单", "知识库文档"]),
    ("dingtalk", "钉钉组织", ["考勤记录", "日志", "待办事项", "通讯录成员"]),
    ("wecom", "企业微信", ["客户标签", "应用消息", "外部联系人", "朋友圈"]),
    ("amap", "高德地图", ["路线", "地点", "公交线路", "停车场"]),
    ("weather", "天气服务", ["天气预报", "空气质量", "台风路径", "预警信息"]),
    ("weibo", "微博账号", ["微博", "评论", "粉丝", "热搜"]),
    ("taobao", "淘宝店铺", ["商品", "订单", "优惠券", "退货申请"]),
    ("alipay", "支付宝商户", ["账单", "退款", "转账", "发票"]),
    ("tencent_docs", "腾讯文档", ["表格", "幻灯片", "收集表", "协作者"]),
    ("yuque", "语雀知识库", ["文章", "目录", "团队", "版本"]),
    ("zentao", "禅道项目", ["缺陷", "需求", "测试用例", "迭代"]),
    ("aliyun", "阿里云账户", ["云服务器", "安全组", "域名解析", "快照"]),
    ("netease_music", "网易云音乐", ["歌单", "歌曲", "歌词", "电台"]),
    ("railway", "铁路购票", ["车票", "车次", "候补单", "乘车人"]),
    ("express", "快递服务", ["运单", "快递网点", "寄件预约", "签收记录"]),
];

fn tool(
    server: &'static str,
    tool: String,
    description: String,
    parameter: &'static str,
    about: &'static str,
) -> Offered {
    Offered { server, tool, description, parameter, about }
}

/// All tools, server by server.
pub(crate) fn offered() -> Vec<Offered> {
    let mut tools = Vec::new();
    for (server, place, things) in ENGLISH {
        for (number, thing) in things.into_iter().enumerate() {
            let word = thing.replace(' ', "_");
            let one = |verb: &str, what: String| {
                tool(server, format!("{verb}_{word}"), what, "name", "Which one, by its name or id")
            };
            tools.push(one(
                "search",
                format!("Searches for every {thing} in {place} that matches some words."),
            ));
            tools.push(one("create", format!("Creates a new {thing} in {place} with a title and content.")));
            tools.push(one(
                "delete",
                format!("Deletes a {thing} from {place} for good. Asks nothing. Number {number}."),
            ));
        }
    }
    for (server, place, things) in CHINESE {
        for (number, thing) in things.into_iter().enumerate() {
            let one = |verb: &str, what: String| {
                tool(server, format!("{verb}_{number}"), what, "name", "名称或编号")
            };
            tools.push(one("search", format!("在{place}中查询{thing}，按关键词筛选。")));
            tools.push(one("create", format!("在{place}中新建{thing}，填写标题与内容。")));
            tools.push(one("delete", format!("从{place}中删除{thing}，不可恢复。")));
        }
    }
    tools
}

/// A request, and the tool it is about.
pub(crate) const REQUESTS: [(&str, &str); 40] = [
    ("open an issue about the crash on github", "mcp_github_create_issue"),
    ("which pull requests mention login?", "mcp_github_search_pull_request"),
    ("delete the old feature branches", "mcp_github_delete_branch"),
    ("publish a release on github", "mcp_github_create_release"),
    ("find failed pipelines in gitlab", "mcp_gitlab_search_pipeline"),
    ("create a ticket in jira for this bug", "mcp_jira_create_ticket"),
    ("search worklogs of last week", "mcp_jira_search_worklog"),
    ("send a message to slack", "mcp_slack_create_message"),
    ("remind me tomorrow with a slack reminder", "mcp_slack_create_reminder"),
    ("search my emails for the contract", "mcp_gmail_search_email"),
    ("write a draft mail", "mcp_gmail_create_draft"),
    ("book a meeting room", "mcp_calendar_create_meeting_room_booking"),
    ("create calendar event", "mcp_calendar_create_event"),
    ("share link for a document in drive", "mcp_drive_create_share_link"),
    ("delete_page", "mcp_notion_delete_page"),
    ("explain a slow postgres query plan", "mcp_postgres_search_query_plan"),
    ("delete redis keys", "mcp_redis_delete_key"),
    ("list running docker containers", "mcp_docker_search_container"),
    ("refund a customer's payment", "mcp_stripe_create_refund"),
    ("make a playlist with these songs", "mcp_spotify_create_playlist"),
    ("在飞书里提交一个审批单", "mcp_feishu_create_2"),
    ("查一下飞书多维表格里的记录", "mcp_feishu_search_0"),
    ("钉钉上这个月的考勤记录", "mcp_dingtalk_search_0"),
    ("给我建一个钉钉待办事项", "mcp_dingtalk_create_2"),
    ("给企业微信的外部联系人打招呼", "mcp_wecom_search_2"),
    ("从家到公司的路线怎么走", "mcp_amap_search_0"),
    ("附近有停车场吗", "mcp_amap_search_3"),
    ("明天的天气预报", "mcp_weather_search_0"),
    ("台风路径查询", "mcp_weather_search_2"),
    ("发一条微博", "mcp_weibo_create_0"),
    ("现在的热搜是什么", "mcp_weibo_search_3"),
    ("查询淘宝订单", "mcp_taobao_search_1"),
    ("处理一个退货申请", "mcp_taobao_create_3"),
    ("支付宝上个月的账单", "mcp_alipay_search_0"),
    ("新建一个收集表", "mcp_tencent_docs_create_2"),
    ("把这个缺陷记到禅道", "mcp_zentao_create_0"),
    ("删除云服务器的快照", "mcp_aliyun_delete_3"),
    ("查歌词", "mcp_netease_music_search_2"),
    ("帮我看看还有没有车票", "mcp_railway_search_0"),
    ("查一下运单到哪里了", "mcp_express_search_0"),
];

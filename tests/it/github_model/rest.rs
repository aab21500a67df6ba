//! The model's REST endpoints.

use serde_json::{Value, json};

use super::server::{Reply, Request};
use super::{HOURLY, Inner, Purse, json_reply, limit_headers};

impl Inner {
    pub(super) fn rest(&mut self, request: &Request, purse: &mut Purse) -> Reply {
        let path = request.path.clone();
        self.journal.push(path.clone());
        if purse.rest == 0 {
            let headers = limit_headers(0, purse.resets_at);
            return json_reply(403, &headers, &json!({ "message": "API rate limit exceeded" }));
        }
        purse.rest -= 1;
        let (place, parameters) = path.split_once('?').unwrap_or((&path, ""));
        let parts: Vec<&str> = place.trim_start_matches('/').split('/').collect();
        let headers = limit_headers(purse.rest, purse.resets_at);
        let gone = |status: u16, message: &str| json_reply(status, &headers, &json!({ "message": message }));
        if parts == ["rate_limit"] {
            // Not counted.
            purse.rest += 1;
            let of = |remaining: u64| json!({ "limit": HOURLY, "remaining": remaining, "reset": purse.resets_at.as_second() });
            let body = json!({ "resources": { "core": of(purse.rest), "graphql": of(purse.points) } });
            return json_reply(200, &headers, &body);
        }
        let (owner, name, rest) = match parts.as_slice() {
            ["repos", owner, name, rest @ ..] => (*owner, *name, rest),
            // Where redirections lead: by the repository's id, which in the model is its flat name.
            ["repositories", id, rest @ ..] => match id.split_once("__") {
                Some((owner, name)) => (owner, name, rest),
                None => return self.unforeseen(path),
            },
            _ => return self.unforeseen(path),
        };
        let asked = format!("{owner}/{name}");
        if let Some(today) = self.renamed.get(&asked) {
            let to = format!("/repositories/{}/{}", today.replace('/', "__"), rest.join("/"));
            let to = if parameters.is_empty() {
                to
            } else {
                format!("{to}?{parameters}")
            };
            return self.redirect(request, &to);
        }
        let Some(repo) = self.repos.get(&asked).filter(|repo| !repo.private).cloned() else {
            return gone(404, "Not Found");
        };
        match rest {
            ["issues", number] => {
                let Ok(number) = number.parse::<u32>() else {
                    return self.unforeseen(path);
                };
                if let Some((to, number)) = repo.moved.get(&number) {
                    // Moved to where the token must not look: as if it had never been.
                    if self.repos.get(to).is_none_or(|repo| repo.private) {
                        return gone(404, "Not Found");
                    }
                    let to = format!("/repositories/{}/issues/{number}", to.replace('/', "__"));
                    return self.redirect(request, &to);
                }
                if repo.deleted.contains(&number) {
                    return gone(410, "This issue was deleted");
                }
                let Some(node) = repo.issues.get(&number).or(repo.pulls.get(&number)) else {
                    return gone(404, "Not Found");
                };
                let host = &request.headers["host"];
                json_reply(
                    200,
                    &headers,
                    &json!({ "number": node["number"], "repository_url": format!("http://{host}/repos/{asked}") }),
                )
            }
            ["issues"] => {
                let mut list: Vec<&Value> = repo.pulls.values().chain(repo.issues.values()).collect();
                list.sort_by(|a, b| b["updatedAt"].as_str().cmp(&a["updatedAt"].as_str()));
                let page = parameters
                    .split('&')
                    .find_map(|part| part.strip_prefix("page="))
                    .and_then(|page| page.parse::<usize>().ok())
                    .unwrap_or(1);
                let shown: Vec<Value> = list
                    .iter()
                    .skip((page - 1) * 100)
                    .take(100)
                    .map(|node| json!({ "number": node["number"], "updated_at": node["updatedAt"] }))
                    .collect();
                let body = Value::Array(shown);
                let etag = format!(
                    "W/\"{}\"",
                    quarry::domain::hash::sha256_hex(body.to_string().as_bytes())
                );
                if request.headers.get("if-none-match") == Some(&etag) {
                    // Not counted.
                    purse.rest += 1;
                    return json_reply(304, &limit_headers(purse.rest, purse.resets_at), &Value::Null);
                }
                let mut headers = headers;
                headers.push(("etag", etag));
                json_reply(200, &headers, &body)
            }
            _ => self.unforeseen(path),
        }
    }

    #[expect(clippy::unused_self, reason = "reads like the other answers")]
    fn redirect(&self, request: &Request, to: &str) -> Reply {
        let location = format!("http://{}{to}", request.headers["host"]);
        json_reply(
            301,
            &[("location", location)],
            &json!({ "message": "Moved Permanently" }),
        )
    }
}

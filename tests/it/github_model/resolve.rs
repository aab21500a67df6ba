//! Answers a query from the state, field by field as the schema says, and counts what it costs by GitHub's rule.

use std::collections::BTreeMap;

use graphql_parser::query as q;
use serde_json::{Map, Value, json};

use super::schema::{Schema, named};
use super::state::Repo;

/// A query with its variables.
pub(super) struct Asked {
    document: q::Document<'static, String>,
    variables: Value,
}

/// What can be said of a query before it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Weight {
    /// Requests that its connections stand for, over a hundred.
    pub(super) points: u64,
    /// Nodes that it may bring.
    pub(super) nodes: u64,
    /// Aliases below `repository`.
    pub(super) aliases: usize,
}

pub(super) struct World<'w> {
    pub(super) schema: &'w Schema,
    pub(super) repos: &'w BTreeMap<String, Repo>,
    /// Old names, with today's.
    pub(super) renamed: &'w BTreeMap<String, String>,
    pub(super) limit: Value,
}

struct Walk<'w> {
    world: &'w World<'w>,
    fragments: BTreeMap<&'w str, &'w q::FragmentDefinition<'static, String>>,
    variables: &'w Value,
    errors: Vec<Value>,
}

type Fields<'w> = Vec<&'w q::Field<'static, String>>;

impl Asked {
    pub(super) fn read(text: &str, variables: Value) -> Result<Self, String> {
        let document = q::parse_query::<String>(text).map_err(|error| error.to_string())?;
        Ok(Self {
            document: document.into_static(),
            variables,
        })
    }

    fn parts(
        &self,
    ) -> (
        &q::SelectionSet<'static, String>,
        BTreeMap<&str, &q::FragmentDefinition<'static, String>>,
    ) {
        let mut fragments = BTreeMap::new();
        let mut root = None;
        for definition in &self.document.definitions {
            match definition {
                q::Definition::Fragment(fragment) => _ = fragments.insert(fragment.name.as_str(), fragment),
                q::Definition::Operation(q::OperationDefinition::Query(query)) => {
                    root = Some(&query.selection_set);
                }
                q::Definition::Operation(_) => {}
            }
        }
        (root.expect("a query"), fragments)
    }

    /// The published rule: each connection asks once for each of its parents; a point for a hundred, at least one.
    pub(super) fn weight(&self, schema: &Schema) -> Weight {
        let (root, fragments) = self.parts();
        let mut weight = (0, 0);
        self.weigh(schema, &fragments, root, "Query", 1, &mut weight);
        let aliases = root.items.iter().filter_map(|item| match item {
            q::Selection::Field(field) if field.name == "repository" => Some(
                field
                    .selection_set
                    .items
                    .iter()
                    .filter(|item| matches!(item, q::Selection::Field(field) if field.alias.is_some()))
                    .count(),
            ),
            _ => None,
        });
        Weight {
            points: ((weight.0 + 50) / 100).max(1),
            nodes: weight.1,
            aliases: aliases.sum(),
        }
    }

    fn weigh(
        &self,
        schema: &Schema,
        fragments: &BTreeMap<&str, &q::FragmentDefinition<'static, String>>,
        set: &q::SelectionSet<'static, String>,
        ty: &str,
        parents: u64,
        weight: &mut (u64, u64),
    ) {
        for item in &set.items {
            let (field, inner) = match item {
                q::Selection::FragmentSpread(spread) => {
                    let fragment = fragments[spread.fragment_name.as_str()];
                    let q::TypeCondition::On(on) = &fragment.type_condition;
                    self.weigh(schema, fragments, &fragment.selection_set, on, parents, weight);
                    continue;
                }
                q::Selection::InlineFragment(inline) => {
                    let Some(q::TypeCondition::On(on)) = &inline.type_condition else {
                        continue;
                    };
                    self.weigh(schema, fragments, &inline.selection_set, on, parents, weight);
                    continue;
                }
                q::Selection::Field(field) => match schema.field(ty, &field.name) {
                    Some(def) => (field, named(&def.ty)),
                    None => continue,
                },
            };
            let mut below = parents;
            if inner.ends_with("Connection") {
                weight.0 += parents;
                let first = field.arguments.iter().find(|(name, _)| name == "first");
                let first = first.map(|(_, value)| plain(value, &self.variables));
                below = parents * first.and_then(|value| value.as_u64()).unwrap_or(0);
                weight.1 += below;
            }
            self.weigh(schema, fragments, &field.selection_set, inner, below, weight);
        }
    }

    /// The answer's body; what the model does not know is an error of the test.
    pub(super) fn answer(&self, world: &World<'_>) -> Result<Value, String> {
        let (root, fragments) = self.parts();
        let mut walk = Walk {
            world,
            fragments,
            variables: &self.variables,
            errors: vec![],
        };
        let data = walk.object(&json!({ "__typename": "Query" }), &[root], &mut vec![], "")?;
        let mut body = json!({ "data": data });
        if !walk.errors.is_empty() {
            body["errors"] = Value::Array(walk.errors);
        }
        Ok(body)
    }
}

fn plain(value: &q::Value<'static, String>, variables: &Value) -> Value {
    match value {
        q::Value::Variable(name) => variables[name.as_str()].clone(),
        q::Value::Int(number) => json!(number.as_i64()),
        q::Value::Float(number) => json!(number),
        q::Value::String(text) | q::Value::Enum(text) => json!(text),
        q::Value::Boolean(truth) => json!(truth),
        q::Value::Null => Value::Null,
        q::Value::List(items) => items.iter().map(|item| plain(item, variables)).collect(),
        q::Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), plain(value, variables)))
            .collect::<Map<_, _>>()
            .into(),
    }
}

impl<'w> Walk<'w> {
    fn fields(&self, concrete: &str, set: &'w q::SelectionSet<'static, String>, found: &mut Fields<'w>) {
        for item in &set.items {
            let (on, inner) = match item {
                q::Selection::Field(field) => {
                    found.push(field);
                    continue;
                }
                q::Selection::FragmentSpread(spread) => {
                    let fragment = self.fragments[spread.fragment_name.as_str()];
                    let q::TypeCondition::On(on) = &fragment.type_condition;
                    (Some(on), &fragment.selection_set)
                }
                q::Selection::InlineFragment(inline) => (
                    inline.type_condition.as_ref().map(|q::TypeCondition::On(on)| on),
                    &inline.selection_set,
                ),
            };
            if on.is_none_or(|on| self.world.schema.is_a(concrete, on)) {
                self.fields(concrete, inner, found);
            }
        }
    }

    /// An object's selected fields. `repo` is the repository it is in, by name.
    fn object(
        &mut self,
        value: &Value,
        sets: &[&'w q::SelectionSet<'static, String>],
        path: &mut Vec<Value>,
        repo: &str,
    ) -> Result<Value, String> {
        let concrete = value["__typename"]
            .as_str()
            .ok_or("an object without a type")?
            .to_owned();
        let mut fields = Vec::new();
        for set in sets {
            self.fields(&concrete, set, &mut fields);
        }
        let own = value["nameWithOwner"].as_str().unwrap_or_default();
        let repo = if concrete == "Repository" { own } else { repo };
        let mut object = Map::new();
        for field in fields {
            let key = field.alias.clone().unwrap_or_else(|| field.name.clone());
            path.push(json!(key));
            let answer = self.field(&concrete, value, field, path, repo)?;
            path.pop();
            object.insert(key, answer);
        }
        Ok(Value::Object(object))
    }

    fn missing(&mut self, path: &[Value], kind: &str, message: &str) -> Value {
        self.errors.push(json!({
            "type": kind, "path": path, "message": message, "locations": [{ "line": 1, "column": 1 }],
        }));
        Value::Null
    }

    fn field(
        &mut self,
        concrete: &str,
        value: &Value,
        field: &'w q::Field<'static, String>,
        path: &mut Vec<Value>,
        repo: &str,
    ) -> Result<Value, String> {
        if field.name == "__typename" {
            return Ok(json!(concrete));
        }
        let def = self
            .world
            .schema
            .field(concrete, &field.name)
            .ok_or_else(|| format!("`{concrete}.{}` is not in the schema", field.name))?;
        let ty = named(&def.ty).to_owned();
        let arguments: Value = field
            .arguments
            .iter()
            .map(|(name, value)| (name.clone(), plain(value, self.variables)))
            .collect::<Map<_, _>>()
            .into();
        let set = &field.selection_set;
        match (concrete, field.name.as_str()) {
            ("Query", "rateLimit") => {
                let limit = self.world.limit.clone();
                return self.object(&limit, &[set], path, repo);
            }
            ("Query", "repository") => {
                let asked = format!("{}/{}", text(&arguments["owner"]), text(&arguments["name"]));
                let Some((name, repo)) = self.repo(&asked) else {
                    let message = format!("Could not resolve to a Repository with the name '{asked}'.");
                    return Ok(self.missing(path, "NOT_FOUND", &message));
                };
                return self.object(&repo.object(&name), &[set], path, &name);
            }
            ("Query", "search") => {
                let words = text(&arguments["query"]);
                let found: Vec<Value> = self
                    .world
                    .repos
                    .iter()
                    .filter(|(name, repo)| !repo.private && name.contains(words))
                    .map(|(name, repo)| repo.object(name))
                    .collect();
                let found: Vec<&Value> = found.iter().collect();
                return self.connection("SearchResultItemConnection", &found, &arguments, set, path, repo);
            }
            ("Repository", "pullRequest" | "issue" | "issueOrPullRequest") => {
                let number = u32::try_from(arguments["number"].as_u64().unwrap()).unwrap();
                let here = &self.world.repos[repo];
                let pull = here.pulls.get(&number).filter(|_| field.name != "issue");
                let issue = here.issues.get(&number).filter(|_| field.name != "pullRequest");
                let Some(node) = pull.or(issue) else {
                    let message = format!("Could not resolve to {ty} with the number of {number}.");
                    return Ok(self.missing(path, "NOT_FOUND", &message));
                };
                return self.object(node, &[set], path, repo);
            }
            ("Repository", "object") => {
                let here = &self.world.repos[repo];
                let names = match text(&arguments["expression"]) {
                    "HEAD:" => &here.root,
                    "HEAD:.github" => &here.github,
                    other => return Err(format!("the model has no object `{other}`")),
                };
                if names.is_empty() {
                    return Ok(Value::Null);
                }
                let entries: Vec<_> = names
                    .iter()
                    .map(|name| json!({ "__typename": "TreeEntry", "name": name }))
                    .collect();
                let tree = json!({ "__typename": "Tree", "entries": entries });
                return self.object(&tree, &[set], path, repo);
            }
            ("Issue" | "PullRequest", "repository") => {
                let object = self.world.repos[repo].object(repo);
                return self.object(&object, &[set], path, repo);
            }
            _ => {}
        }
        if concrete == "Repository"
            && let Some(there) = self.world.repos.get(repo)
        {
            let list: Option<Vec<&Value>> = match field.name.as_str() {
                "pullRequests" => Some(there.pulls.values().collect()),
                "issues" => Some(there.issues.values().collect()),
                "releases" => Some(there.releases.iter().collect()),
                _ => None,
            };
            if let Some(mut nodes) = list {
                if let Some(states) = arguments["states"].as_array() {
                    nodes.retain(|node| states.contains(&node["state"]));
                }
                return self.connection(&ty, &nodes, &arguments, set, path, repo);
            }
        }
        let raw = value
            .get(&field.name)
            .ok_or_else(|| format!("the model's {concrete} has no `{}`", field.name))?;
        if ty.ends_with("Connection") {
            let mut nodes: Vec<&Value> = raw.as_array().into_iter().flatten().collect();
            if let Some(types) = arguments["itemTypes"].as_array() {
                // `ClosedEvent` is `CLOSED_EVENT`.
                nodes.retain(|node| {
                    let mut word = String::new();
                    for letter in text(&node["__typename"]).chars() {
                        if letter.is_ascii_uppercase() && !word.is_empty() {
                            word.push('_');
                        }
                        word.push(letter.to_ascii_uppercase());
                    }
                    types.contains(&json!(word))
                });
            }
            return self.connection(&ty, &nodes, &arguments, set, path, repo);
        }
        self.plain(raw, &ty, set, path, repo)
    }

    fn plain(
        &mut self,
        raw: &Value,
        ty: &str,
        set: &'w q::SelectionSet<'static, String>,
        path: &mut Vec<Value>,
        repo: &str,
    ) -> Result<Value, String> {
        match raw {
            Value::Array(items) => {
                let items: Result<Vec<_>, _> = items
                    .iter()
                    .map(|item| self.plain(item, ty, set, path, repo))
                    .collect();
                Ok(items?.into())
            }
            // A pull request by its place; one that must not be seen is not told.
            Value::Object(place) if place.contains_key("pull") => {
                let at = text(&raw["pull"]);
                let (of, number) = at.rsplit_once('#').unwrap_or((repo, at));
                let number: u32 = number.parse().unwrap();
                let Some((name, there)) = self.repo(of) else {
                    return Ok(self.missing(path, "FORBIDDEN", "Resource protected"));
                };
                self.object(&there.pulls[&number], &[set], path, &name)
            }
            Value::Object(_) => {
                let mut object = raw.clone();
                if object.get("__typename").is_none() {
                    object["__typename"] = json!(ty);
                }
                self.object(&object, &[set], path, repo)
            }
            other => Ok(other.clone()),
        }
    }

    fn connection(
        &mut self,
        ty: &str,
        all: &[&Value],
        arguments: &Value,
        set: &'w q::SelectionSet<'static, String>,
        path: &mut Vec<Value>,
        repo: &str,
    ) -> Result<Value, String> {
        let mut fields = Vec::new();
        self.fields(ty, set, &mut fields);
        let first = arguments["first"].as_u64();
        let asks_nodes = fields
            .iter()
            .any(|field| matches!(field.name.as_str(), "nodes" | "pageInfo"));
        match first {
            None if asks_nodes => return Err(format!("MISSING_PAGINATION_BOUNDARIES: {ty}")),
            Some(first) if !(1..=100).contains(&first) => {
                return Err(format!("EXCESSIVE_PAGINATION: {first}"));
            }
            _ => {}
        }
        let begin = match arguments["after"].as_str() {
            Some(cursor) => cursor
                .strip_prefix("cursor:")
                .and_then(|place| place.parse::<usize>().ok())
                .ok_or_else(|| format!("`{cursor}` is no cursor"))?,
            None => 0,
        };
        let end = all
            .len()
            .min(begin + usize::try_from(first.unwrap_or(0)).unwrap());
        let mut object = Map::new();
        for field in fields {
            let key = field.alias.clone().unwrap_or_else(|| field.name.clone());
            let answer = match field.name.as_str() {
                "totalCount" | "repositoryCount" => json!(all.len()),
                "pageInfo" => {
                    let info = json!({
                        "__typename": "PageInfo", "hasNextPage": end < all.len(), "endCursor": format!("cursor:{end}"),
                    });
                    self.object(&info, &[&field.selection_set], path, repo)?
                }
                "nodes" => {
                    let inner = named(&self.world.schema.field(ty, "nodes").unwrap().ty).to_owned();
                    path.push(json!(key));
                    let mut nodes = Vec::new();
                    for (place, node) in all[begin.min(end)..end].iter().enumerate() {
                        path.push(json!(place));
                        nodes.push(self.node(node, &inner, &field.selection_set, path, repo)?);
                        path.pop();
                    }
                    path.pop();
                    nodes.into()
                }
                other => return Err(format!("the model's {ty} has no `{other}`")),
            };
            object.insert(key, answer);
        }
        Ok(Value::Object(object))
    }

    /// A node of a list: itself, or what stands at its place, if it may be seen.
    fn node(
        &mut self,
        node: &Value,
        ty: &str,
        set: &'w q::SelectionSet<'static, String>,
        path: &mut Vec<Value>,
        repo: &str,
    ) -> Result<Value, String> {
        let Some(at) = node["at"].as_str() else {
            return self.plain(node, ty, set, path, repo);
        };
        let (of, number) = at.rsplit_once('#').unwrap_or((repo, at));
        let number: u32 = number.parse().unwrap();
        let Some((name, there)) = self.repo(of) else {
            return Ok(self.missing(path, "FORBIDDEN", "Resource protected"));
        };
        let there = &there.issues[&number];
        self.object(there, &[set], path, &name)
    }

    /// A repository that may be seen, by today's or an older name, in any letters.
    fn repo(&self, asked: &str) -> Option<(String, &'w Repo)> {
        let asked = self.world.renamed.get(asked).map_or(asked, String::as_str);
        let found = self
            .world
            .repos
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(asked));
        found
            .filter(|(_, repo)| !repo.private)
            .map(|(name, repo)| (name.clone(), repo))
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

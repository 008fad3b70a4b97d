//! The import graph of the project, as the compiler would draw it: every name is followed to the file that defines it.
//!
//! Owns: reading source files without their tests, and resolving `use` trees (grouped, renamed, globs, `self`,
//! `super`, `crate`, re-exports) and the paths in expressions, types, attributes and macros.
//! Flows in: crate roots and a function that reads a file. Flows out: arrows between files, and every use of what
//! no file here defines. Must not know: which arrow is allowed.
//!
//! Local scopes are not kept apart: an import inside a function counts for its whole module. What a type's method is
//! called through a field, without naming the type, leaves no arrow: it leaves none for the reader of a file either.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// How a file names what stands elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// An import for the file's own use.
    Import,
    /// `pub use`, also `pub(crate) use`.
    Reexport,
    /// A path in code.
    Mention,
    /// A whole module is imported. What is then named through it is a mention of its own.
    Module,
}

/// One file names one thing of another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrow {
    pub(crate) from: PathBuf,
    pub(crate) to: PathBuf,
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) kind: Kind,
    /// The one who names holds the other below itself: `mod.rs` and the files of its folder.
    pub(crate) to_descendant: bool,
}

/// A file uses what no file of the project defines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Foreign {
    /// A path, written out as if nothing were imported: `std::fs::read`.
    Path(String),
    /// `.name(…)`, and what stands before it where that is a path.
    Method { on: String, name: String },
    /// `name!`.
    Macro(String),
}

/// Where a file uses something foreign.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Use {
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
    pub(crate) what: Foreign,
}

/// Production files and all that is known of them.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// Files that are part of a crate, with their texts; those of tests are not among them.
    pub(crate) files: BTreeMap<PathBuf, String>,
    /// Files that only tests see, without `.rs`: whatever lies below belongs to them.
    pub(crate) tests: BTreeSet<PathBuf>,
    pub(crate) arrows: BTreeSet<Arrow>,
    pub(crate) foreign: BTreeSet<Use>,
}

impl Graph {
    /// Reads crates from their roots on: each a name as code writes it, and a file.
    pub(crate) fn read(roots: &[(&str, &str)], read: &dyn Fn(&Path) -> Option<String>) -> Self {
        let mut reader = Reader {
            read,
            modules: Vec::new(),
            graph: Self::default(),
        };
        let roots: Vec<(String, usize)> = roots
            .iter()
            .map(|(name, file)| {
                let module = reader.file(Path::new(file), None, Vec::new());
                ((*name).to_owned(), module)
            })
            .collect();
        reader.exports();
        let names = Names {
            modules: &reader.modules,
            // A binary has the name of its library, and is nobody's import: the library comes first.
            crates: roots.into_iter().rev().collect(),
        };
        let mut graph = reader.graph;
        for id in 0..reader.modules.len() {
            names.arrows(id, &mut graph);
        }
        graph
    }
}

/// One module: a file, or an inline `mod` in one.
#[derive(Debug)]
struct Module {
    /// Names from the root of the crate; roots are told apart by their index.
    path: Vec<String>,
    root: usize,
    parent: Option<usize>,
    file: PathBuf,
    names: BTreeMap<String, Vec<Name>>,
    /// The macros that it defines for other crates.
    exported: Vec<String>,
    globs: Vec<Vec<String>>,
    mentions: Vec<Mention>,
    foreign: Vec<(usize, Foreign)>,
}

#[derive(Debug, Clone)]
enum Name {
    Item,
    Module(usize),
    /// An import, as it is written.
    Import(Vec<String>),
}

#[derive(Debug)]
struct Mention {
    path: Vec<String>,
    glob: bool,
    line: usize,
    kind: Kind,
}

/// Reads files into modules.
struct Reader<'a> {
    read: &'a dyn Fn(&Path) -> Option<String>,
    modules: Vec<Module>,
    graph: Graph,
}

impl Reader<'_> {
    /// Reads one file as a module, and all below it.
    fn file(&mut self, file: &Path, parent: Option<usize>, path: Vec<String>) -> usize {
        let text = (self.read)(file).unwrap_or_else(|| panic!("{}: no such file", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        self.graph.files.insert(file.to_owned(), text);
        let is_directory = parent.is_none() || file.ends_with("mod.rs");
        let below = if is_directory {
            file.parent().expect("a directory").to_owned()
        } else {
            file.with_extension("")
        };
        self.module(file, parent, path, &parsed.items, &below)
    }

    /// Reads the items of a module, whose files lie `below`.
    fn module(
        &mut self,
        file: &Path,
        parent: Option<usize>,
        path: Vec<String>,
        items: &[syn::Item],
        below: &Path,
    ) -> usize {
        let id = self.modules.len();
        self.modules.push(Module {
            path: path.clone(),
            root: parent.map_or(id, |parent| self.modules[parent].root),
            parent,
            file: file.to_owned(),
            names: BTreeMap::new(),
            exported: Vec::new(),
            globs: Vec::new(),
            mentions: Vec::new(),
            foreign: Vec::new(),
        });
        let mut visitor = Visitor::default();
        for item in items {
            let syn::Item::Mod(declared) = item else {
                visitor.declare(item);
                visitor.visit_item(item);
                continue;
            };
            let name = declared.ident.to_string();
            let place = below.join(&name);
            if is_for_tests(&declared.attrs) {
                self.graph.tests.insert(place);
                continue;
            }
            let moved = declared
                .attrs
                .iter()
                .any(|attribute| attribute.path().is_ident("path"));
            assert!(!moved, "{}: `#[path]` is not understood here", file.display());
            let mut inner = path.clone();
            inner.push(name.clone());
            let module = match &declared.content {
                Some((_, items)) => self.module(file, Some(id), inner, items, &place),
                None => {
                    let beside = place.with_extension("rs");
                    let exists = (self.read)(&beside).is_some();
                    let found = if exists { beside } else { place.join("mod.rs") };
                    self.file(&found, Some(id), inner)
                }
            };
            visitor.names.entry(name).or_default().push(Name::Module(module));
        }
        let module = &mut self.modules[id];
        module.names = visitor.names;
        module.exported = visitor.exported;
        module.globs = visitor.globs;
        module.mentions = visitor.mentions;
        module.foreign = visitor.foreign;
        id
    }

    /// Other crates name a macro with `#[macro_export]` by the root of its crate: it is defined where it is written.
    fn exports(&mut self) {
        for id in 0..self.modules.len() {
            let module = &self.modules[id];
            let root = module.root;
            let path =
                |name: &String| [&["crate".to_owned()], &*module.path, std::slice::from_ref(name)].concat();
            let exported: Vec<_> = module
                .exported
                .iter()
                .map(|name| (name.clone(), path(name)))
                .collect();
            for (name, path) in exported {
                let names = &mut self.modules[root].names;
                names.entry(name).or_default().push(Name::Import(path));
            }
        }
    }
}

/// Whether an item is there only for tests: `#[test]`, `#[cfg(test)]`, `#[cfg(all(test, …))]`.
fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.meta.require_list().is_ok_and(|list| {
                    let condition: String = list.tokens.to_string().split_whitespace().collect();
                    condition == "test" || condition.starts_with("all(test,")
                })
    })
}

/// Gathers what the items of one module declare and name.
#[derive(Default)]
struct Visitor {
    names: BTreeMap<String, Vec<Name>>,
    exported: Vec<String>,
    globs: Vec<Vec<String>>,
    mentions: Vec<Mention>,
    foreign: Vec<(usize, Foreign)>,
}

impl Visitor {
    /// Gives an item its name in the module.
    fn declare(&mut self, item: &syn::Item) {
        use syn::Item;
        let name = match item {
            Item::Const(item) => &item.ident,
            Item::Enum(item) => &item.ident,
            Item::Fn(item) => &item.sig.ident,
            Item::Static(item) => &item.ident,
            Item::Struct(item) => &item.ident,
            Item::Trait(item) => &item.ident,
            Item::TraitAlias(item) => &item.ident,
            Item::Type(item) => &item.ident,
            Item::Union(item) => &item.ident,
            Item::Macro(syn::ItemMacro {
                ident: Some(ident),
                attrs,
                ..
            }) => {
                if attrs
                    .iter()
                    .any(|attribute| attribute.path().is_ident("macro_export"))
                {
                    self.exported.push(ident.to_string());
                }
                ident
            }
            _ => return,
        };
        self.names.entry(name.to_string()).or_default().push(Name::Item);
    }

    fn mention(&mut self, path: Vec<String>, span: Span) {
        self.mentions.push(Mention {
            path,
            glob: false,
            line: span.start().line,
            kind: Kind::Mention,
        });
    }

    fn tree(&mut self, tree: &syn::UseTree, prefix: &[String], kind: Kind) {
        let with = |name: &syn::Ident| {
            let mut path = prefix.to_vec();
            // `self` in a group is the group's own name; at the beginning of a path it is the module.
            if name != "self" || prefix.is_empty() {
                path.push(name.to_string());
            }
            path
        };
        let (path, span, alias) = match tree {
            syn::UseTree::Path(inner) => return self.tree(&inner.tree, &with(&inner.ident), kind),
            syn::UseTree::Group(group) => {
                return group
                    .items
                    .iter()
                    .for_each(|inner| self.tree(inner, prefix, kind));
            }
            syn::UseTree::Glob(glob) => (prefix.to_vec(), glob.star_token.spans[0], None),
            syn::UseTree::Name(name) => {
                let path = with(&name.ident);
                let alias = path.last().cloned();
                (path, name.ident.span(), alias)
            }
            syn::UseTree::Rename(renamed) => (
                with(&renamed.ident),
                renamed.ident.span(),
                Some(renamed.rename.to_string()),
            ),
        };
        let glob = alias.is_none();
        match alias {
            Some(alias) => self
                .names
                .entry(alias)
                .or_default()
                .push(Name::Import(path.clone())),
            None => self.globs.push(path.clone()),
        }
        self.mentions.push(Mention {
            path,
            glob,
            line: span.start().line,
            kind,
        });
    }

    /// Paths, methods and macros in tokens that are no syntax tree yet. In a string of an attribute, as serde has
    /// them, stands a path too.
    fn tokens(&mut self, stream: &TokenStream, in_attribute: bool) {
        let tokens: Vec<TokenTree> = stream.clone().into_iter().collect();
        let is = |at: Option<usize>, wanted: char| matches!(at.and_then(|at| tokens.get(at)), Some(TokenTree::Punct(punct)) if punct.as_char() == wanted);
        let colons = |at: usize| is(Some(at), ':') && is(Some(at + 1), ':');
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let start = at;
            at += 1;
            match token {
                TokenTree::Group(group) => self.tokens(&group.stream(), in_attribute),
                TokenTree::Literal(literal) if in_attribute => {
                    if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string())
                        && text.value().contains("::")
                        && let Ok(path) = text.parse::<syn::Path>()
                    {
                        self.visit_path(&path);
                    }
                }
                TokenTree::Ident(first) => {
                    let mut path = vec![first.to_string()];
                    while let (true, Some(TokenTree::Ident(next))) = (colons(at), tokens.get(at + 2)) {
                        path.push(next.to_string());
                        at += 3;
                    }
                    let called = matches!(tokens.get(at), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
                    let line = first.span().start().line;
                    if is(start.checked_sub(1), '.') {
                        if called {
                            let on = match start.checked_sub(2).and_then(|before| tokens.get(before)) {
                                Some(TokenTree::Ident(on)) => on.to_string(),
                                _ => String::new(),
                            };
                            let name = first.to_string();
                            self.foreign.push((line, Foreign::Method { on, name }));
                        }
                        continue;
                    }
                    if is(Some(at), '!') && matches!(tokens.get(at + 1), Some(TokenTree::Group(_))) {
                        let name = path.last().cloned().unwrap_or_default();
                        self.foreign.push((line, Foreign::Macro(name)));
                    }
                    if path.len() > 1 || called || is_type_name(&path[0]) {
                        self.mention(path, first.span());
                    }
                }
                _ => {}
            }
        }
    }
}

fn names(path: &syn::Path) -> Vec<String> {
    path.segments
        .iter()
        .map(|segment| segment.ident.to_string())
        .collect()
}

/// A single name in small letters may be a variable.
fn is_type_name(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}

impl<'ast> Visit<'ast> for Visitor {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        use syn::Item;
        let attributes: &[syn::Attribute] = match item {
            Item::Const(item) => &item.attrs,
            Item::Enum(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Macro(item) => &item.attrs,
            Item::Mod(item) => &item.attrs,
            Item::Static(item) => &item.attrs,
            Item::Struct(item) => &item.attrs,
            Item::Trait(item) => &item.attrs,
            Item::Type(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            _ => &[],
        };
        if !is_for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let kind = match item.vis {
            syn::Visibility::Inherited => Kind::Import,
            _ => Kind::Reexport,
        };
        let prefix: &[String] = if item.leading_colon.is_some() {
            &["::".to_owned()]
        } else {
            &[]
        };
        self.tree(&item.tree, prefix, kind);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {
        // `pub(crate)` and `pub(in …)` name modules, and import nothing.
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let mut names = names(path);
        if path.leading_colon.is_some() {
            names.insert(0, "::".to_owned());
        }
        if let Some(first) = path.segments.first()
            && (names.len() > 1 || is_type_name(&names[0]))
        {
            self.mention(names, first.ident.span());
        }
        visit::visit_path(self, path);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(function) = &*call.func
            && let Some(name) = function.path.get_ident()
            && !is_type_name(&name.to_string())
        {
            self.mention(vec![name.to_string()], name.span());
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let line = call.method.span().start().line;
        let on = match &*call.receiver {
            syn::Expr::Path(receiver) => names(&receiver.path).join("::"),
            _ => String::new(),
        };
        let name = call.method.to_string();
        self.foreign.push((line, Foreign::Method { on, name }));
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        if let Some(name) = called.path.segments.last() {
            let line = name.ident.span().start().line;
            self.foreign.push((line, Foreign::Macro(name.ident.to_string())));
        }
        visit::visit_macro(self, called);
        self.tokens(&called.tokens, false);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        // What decides whether code is there, is not code.
        if !attribute.path().is_ident("doc") && !attribute.path().is_ident("cfg") {
            visit::visit_attribute(self, attribute);
            if let syn::Meta::List(list) = &attribute.meta {
                self.tokens(&list.tokens, true);
            }
        }
    }
}

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    /// An item of a module, by the name that it has there.
    Item(usize, String),
    Module(usize),
    Foreign(Vec<String>),
}

/// All modules, to follow names in.
struct Names<'a> {
    modules: &'a [Module],
    crates: BTreeMap<String, usize>,
}

type Seen = BTreeSet<(usize, String)>;

impl Names<'_> {
    /// Follows all that a module names.
    fn arrows(&self, id: usize, graph: &mut Graph) {
        let module = &self.modules[id];
        for mention in &module.mentions {
            let mut targets = self.resolve(id, &mention.path, &mut Seen::new());
            if mention.glob {
                // What a glob takes is all that it could take.
                let inside: BTreeSet<Target> = targets.iter().flat_map(|target| self.all(target)).collect();
                targets.extend(inside);
            }
            for target in targets {
                match target {
                    Target::Foreign(path) => {
                        // A single name that leads nowhere is a variable, a type parameter or of the prelude.
                        if path.len() > 1 || mention.kind != Kind::Mention {
                            let what = Foreign::Path(path.join("::"));
                            graph.foreign.insert(self.used(id, mention.line, what));
                        }
                    }
                    Target::Item(to, name) => self.arrow(id, to, name, mention, graph),
                    Target::Module(_) if mention.kind == Kind::Mention => {}
                    Target::Module(to) => {
                        let name = mention.path.last().cloned().unwrap_or_default();
                        let mention = Mention {
                            kind: Kind::Module,
                            path: Vec::new(),
                            ..*mention
                        };
                        self.arrow(id, to, name, &mention, graph);
                    }
                }
            }
        }
        for (line, what) in &module.foreign {
            graph.foreign.insert(self.used(id, *line, what.clone()));
        }
    }

    fn used(&self, id: usize, line: usize, what: Foreign) -> Use {
        Use {
            file: self.modules[id].file.clone(),
            line,
            what,
        }
    }

    fn arrow(&self, from: usize, to: usize, name: String, mention: &Mention, graph: &mut Graph) {
        let (from, to) = (&self.modules[from], &self.modules[to]);
        if from.file != to.file {
            graph.arrows.insert(Arrow {
                from: from.file.clone(),
                to: to.file.clone(),
                name,
                line: mention.line,
                kind: mention.kind,
                to_descendant: from.root == to.root && to.path.starts_with(&from.path),
            });
        }
    }

    /// Follows a path from a module on.
    fn resolve(&self, from: usize, path: &[String], seen: &mut Seen) -> BTreeSet<Target> {
        let Some((first, mut rest)) = path.split_first() else {
            return BTreeSet::from([Target::Module(from)]);
        };
        let mut targets = match first.as_str() {
            "crate" => BTreeSet::from([Target::Module(self.modules[from].root)]),
            "self" => BTreeSet::from([Target::Module(from)]),
            "super" => BTreeSet::from([Target::Module(self.parent(from))]),
            "::" => {
                let named = rest.first().cloned().unwrap_or_default();
                rest = rest.get(1..).unwrap_or_default();
                self.outside(from, &named)
            }
            name => {
                let found = self.lookup(from, name, seen);
                if found.is_empty() {
                    self.outside(from, name)
                } else {
                    found
                }
            }
        };
        for name in rest {
            targets = targets
                .into_iter()
                .flat_map(|target| self.step(target, name, seen))
                .collect();
        }
        targets
    }

    fn parent(&self, module: usize) -> usize {
        self.modules[module].parent.unwrap_or(module)
    }

    /// A crate of the project, or a foreign one. A library is no crate to itself, and is to its binary.
    fn outside(&self, from: usize, name: &str) -> BTreeSet<Target> {
        let own = self.modules[from].root;
        let target = match self.crates.get(name) {
            Some(root) if *root != own => Target::Module(*root),
            _ => Target::Foreign(vec![name.to_owned()]),
        };
        BTreeSet::from([target])
    }

    fn step(&self, target: Target, name: &str, seen: &mut Seen) -> BTreeSet<Target> {
        match target {
            // A variant, an associated function: it stands where its type does.
            Target::Item(..) => BTreeSet::from([target]),
            Target::Module(_) if name == "self" => BTreeSet::from([target]),
            Target::Module(module) if name == "super" => {
                BTreeSet::from([Target::Module(self.parent(module))])
            }
            Target::Module(module) => {
                let found = self.lookup(module, name, seen);
                // What a macro made: it is in that file.
                if found.is_empty() {
                    BTreeSet::from([Target::Item(module, name.to_owned())])
                } else {
                    found
                }
            }
            Target::Foreign(mut path) => {
                path.push(name.to_owned());
                BTreeSet::from([Target::Foreign(path)])
            }
        }
    }

    /// What a name means in a module.
    fn lookup(&self, module: usize, name: &str, seen: &mut Seen) -> BTreeSet<Target> {
        let mut found = BTreeSet::new();
        // `pub use place::place`: while the import is followed, the name is the module's.
        let is_first = seen.insert((module, name.to_owned()));
        for named in self.modules[module].names.get(name).into_iter().flatten() {
            match named {
                Name::Item => {
                    found.insert(Target::Item(module, name.to_owned()));
                }
                Name::Module(inner) => {
                    found.insert(Target::Module(*inner));
                }
                Name::Import(path) if is_first => found.extend(self.resolve(module, path, seen)),
                Name::Import(_) => {}
            }
        }
        if !is_first {
            return found;
        }
        if found.is_empty() {
            for glob in &self.modules[module].globs {
                for target in self.resolve(module, glob, seen) {
                    if let Target::Module(inner) = target {
                        found.extend(self.lookup(inner, name, seen));
                    }
                }
            }
        }
        seen.remove(&(module, name.to_owned()));
        found
    }

    /// All items that a glob of a module takes.
    fn all(&self, target: &Target) -> BTreeSet<Target> {
        let Target::Module(module) = target else {
            return BTreeSet::new();
        };
        let names = self.modules[*module].names.keys();
        names
            .flat_map(|name| self.lookup(*module, name, &mut Seen::new()))
            .filter(|target| matches!(target, Target::Item(..)))
            .collect()
    }
}

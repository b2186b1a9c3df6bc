#include "app/kind_commands.h"

#include <memory>

#include "app/commands/schema_command.h"
#include "app/option_types.h"

namespace dlasim {
namespace {

template <class Kinds>
Command add_kinds(CLI::App& app, const char* name, const char* what, const Kinds& kinds, int (*run)(const std::string&))
{
    const auto kind = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand(name, what);
    command->add_option("KIND", *kind, "kind of file")->required()->check(one_of({kinds.begin(), kinds.end()}));
    return {command, [=](const std::string&) { return run(*kind); }};
}

}  // namespace

Command add_schema(CLI::App& app)
{
    return add_kinds(app, "schema", "print a JSON Schema of a kind of file, for completion and checks in editors", kSchemaKinds,
                     schema_command);
}

Command add_new(CLI::App& app)
{
    return add_kinds(app, "new", "print a template of a kind of file, with comments, that runs", kTemplateKinds, new_command);
}

}  // namespace dlasim

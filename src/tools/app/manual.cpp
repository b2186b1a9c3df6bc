#include "app/manual.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "app/file_options.h"
#include "config/machine/memory.h"
#include "facts/presets.h"
#include "silicon/technology.h"

namespace dlasim {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app)
{
    return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

/// Those that the help shows.
std::vector<const CLI::Option*> options_of(const CLI::App& command)
{
    return command.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
}

bool is_argument(const CLI::Option& option) { return option.get_lnames().empty() && option.get_snames().empty(); }

/// "--hw"; of an argument its name.
std::string name_of(const CLI::Option& option)
{
    return is_argument(option)           ? option.get_name(true)
           : option.get_lnames().empty() ? "-" + option.get_snames().front()
                                         : "--" + option.get_lnames().front();
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

const FileOption* file_of(const CLI::App& command, const CLI::Option& option)
{
    const auto rows = file_options();
    const auto row =
        std::ranges::find_if(rows, [&](const FileOption& r) { return r.command == command.get_name() && r.option == name_of(option); });
    return row == rows.end() ? nullptr : &*row;
}

/// Possible values of an option: its own words, names of presets.
std::vector<std::string> words_of(const CLI::Option& option)
{
    const std::string name = name_of(option), type = option.get_type_name();
    std::vector<std::string> words;
    if (name == "--hw")
        for (const Hardware& hardware : presets()) words.push_back(hardware.name);
    else if (name == "--memory") words = memory_presets();
    else if (name == "--technology") words = silicon::technology_names();
    else if (const std::size_t open = type.find('{'), close = type.find('}'); open != std::string::npos && close != std::string::npos)
        words = CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
    return words;
}

std::string replaced(std::string_view text, std::initializer_list<std::pair<char, std::string_view>> escapes)
{
    std::string all;
    for (const char c : text) {
        const auto escape = std::ranges::find(escapes, c, &std::pair<char, std::string_view>::first);
        if (escape == escapes.end()) all += c;
        else all += escape->second;
    }
    return all;
}

// ---- man

std::string roff(const std::string& text)
{
    const std::string all = replaced(text, {{'\\', "\\e"}, {'-', "\\-"}, {'\n', " "}});
    return all.starts_with('.') || all.starts_with('\'') ? "\\&" + all : all;
}

std::string man_options(const CLI::App& command)
{
    std::string text;
    for (const CLI::Option* option : options_of(command)) {
        const std::string value = takes_value(*option) && !is_argument(*option) ? " \\fI" + roff(option->get_type_name()) + "\\fR" : "";
        text += fmt::format(".TP\n\\fB{}\\fR{}\n{}", roff(name_of(*option)), value, roff(option->get_description()));
        if (!option->get_default_str().empty()) text += fmt::format(" (without it {})", roff(option->get_default_str()));
        text += "\n";
    }
    return text;
}

std::string man_page(const CLI::App& app, std::string_view version)
{
    std::string text =
        fmt::format(".TH DLASIM 1 \"\" \"dlasim {}\"\n.SH NAME\ndlasim \\- {}\n.SH SYNOPSIS\n", version, roff(app.get_description()));
    for (const CLI::App* command : commands_of(app)) {
        std::string arguments;
        for (const CLI::Option* option : options_of(*command))
            if (is_argument(*option))
                arguments +=
                    option->get_required() ? " \\fI" + roff(name_of(*option)) + "\\fR" : " [\\fI" + roff(name_of(*option)) + "\\fR]";
        text += fmt::format("\\fBdlasim {}\\fR{} [options]\n.br\n", command->get_name(), arguments);
    }
    text +=
        ".SH DESCRIPTION\nEvery size of the machine is a value: \\fB\\-\\-hw\\fR names a machine, \\fB\\-\\-set\\fR changes one of its "
        "sizes, "
        "\\fB\\-\\-memory\\fR selects the memory. Results are files; \\fBdlasim reference\\fR describes what each of their keys "
        "means.\n";
    for (const CLI::App* command : commands_of(app))
        text += fmt::format(".SH dlasim {}\n{}\n{}", command->get_name(), roff(command->get_description()), man_options(*command));
    text += ".SH EXIT STATUS\n";
    for (const std::string& line : CLI::detail::split(app.get_footer(), '\n')) text += roff(line) + "\n.br\n";
    return text;
}

// ---- shells

std::string bash_completion(const CLI::App& app)
{
    std::vector<std::string> names;
    std::string of_values, of_commands;
    for (const CLI::App* command : commands_of(app)) {
        names.push_back(command->get_name());
        std::vector<std::string> words;
        for (const CLI::Option* option : options_of(*command)) {
            if (is_argument(*option)) continue;
            words.push_back(name_of(*option));
            if (!takes_value(*option)) continue;
            const FileOption* file = file_of(*command, *option);
            const bool folder = file && (file->use == FileUse::OutputFolder || file->use == FileUse::InputFolder);
            const std::string found = folder ? " $(compgen -d -- \"$word\")" : file ? " $(compgen -f -- \"$word\")" : "";
            of_values += fmt::format("        \"{} {}\") COMPREPLY=( $(compgen -W \"{}\" -- \"$word\"){} ); return;;\n",
                                     command->get_name(), words.back(), fmt::join(words_of(*option), " "), found);
        }
        of_commands += fmt::format("        {}) options=\"{}\";;\n", command->get_name(), fmt::join(words, " "));
    }
    return fmt::format(R"(# bash completion of dlasim; made by `dlasim manual bash`
_dlasim() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} options=""
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=( $(compgen -W "{} --help --version" -- "$word") )
        return
    fi
    case "$command $before" in
{}    esac
    case "$command" in
{}    esac
    case "$word" in
        -*) COMPREPLY=( $(compgen -W "$options" -- "$word") );;
        *) COMPREPLY=( $(compgen -f -- "$word") );;
    esac
}}
complete -o filenames -F _dlasim dlasim
)",
                       fmt::join(names, " "), of_values, of_commands);
}

/// Inside '..' and [..].
std::string zsh(const std::string& text)
{
    return replaced(text, {{'\'', "'\\''"}, {'[', "\\["}, {']', "\\]"}, {':', "\\:"}, {'\n', " "}});
}

std::string zsh_value(const CLI::App& command, const CLI::Option& option)
{
    const FileOption* file = file_of(command, option);
    const std::vector<std::string> words = words_of(option);
    if (file && !words.empty()) return fmt::format("_alternative \"files\\:file\\:_files\" \"names\\:name\\:({})\"", fmt::join(words, " "));
    if (!words.empty()) return fmt::format("({})", fmt::join(words, " "));
    return file ? "_files" : " ";
}

std::string zsh_completion(const CLI::App& app)
{
    std::string commands, cases;
    for (const CLI::App* command : commands_of(app)) {
        commands += fmt::format("        '{}:{}'\n", command->get_name(), zsh(command->get_description()));
        cases += fmt::format("        {})\n            _arguments", command->get_name());
        for (const CLI::Option* option : options_of(*command)) {
            const std::string name = name_of(*option), says = zsh(option->get_description());
            if (is_argument(*option)) cases += fmt::format(" \\\n                '*:{}:{}'", zsh(name), "_files");
            else if (takes_value(*option))
                cases += fmt::format(" \\\n                '*{}[{}]:{}:{}'", name, says, zsh(name), zsh_value(*command, *option));
            else cases += fmt::format(" \\\n                '{}[{}]'", name, says);
        }
        cases += "\n            ;;\n";
    }
    return fmt::format(R"(#compdef dlasim
# zsh completion of dlasim; made by `dlasim manual zsh`
_dlasim() {{
    local -a commands
    commands=(
{}    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case "$command" in
{}    esac
}}
_dlasim "$@"
)",
                       commands, cases);
}

}  // namespace

std::string manual(const CLI::App& app, std::string_view form, std::string_view version)
{
    return form == "man" ? man_page(app, version) : form == "bash" ? bash_completion(app) : zsh_completion(app);
}

}  // namespace dlasim

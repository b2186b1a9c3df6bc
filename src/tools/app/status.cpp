#include "app/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>

#include "app/interrupt.h"
#include "app/no_memory.h"
#include "base/error.h"
#include "base/files/config_errors.h"
#include "base/files/console.h"

namespace dlasim {
namespace {

/// A line each, as many as a screen takes.
void say_problems(const ConfigErrors& error)
{
    constexpr std::size_t kMaxShown = 40;
    const std::size_t count = error.problems.size(), shown = std::min(count, kMaxShown);
    std::string text = fmt::format("{}: {} problems:", printable(error.place), count);
    for (std::size_t i = 0; i < shown; ++i) text += "\n  " + printable(error.problems[i]);
    if (shown != count) text += fmt::format("\n  and {} more", count - shown);
    say_error("dlasim: {}\n", text);
}

int status_of(const std::function<int()>& command)
{
    try {
        const int status = command();
        return flush_standard_output() ? status : kBadInput;
    } catch (const ConfigErrors& error) {
        say_problems(error);
        return kBadInput;
    } catch (const ConfigError& error) {
        say_error("dlasim: {}\n", printable(error.what()));
        return interrupted() ? kInterrupted : kBadInput;  // what waits for somebody else ends with an error then
    } catch (const std::bad_alloc&) {
        throw;
    } catch (const MachineError& error) {
        if (!allocation_failed()) say_error("dlasim: {}\n", error.what());
        return kMachineBroke;
    } catch (const std::filesystem::filesystem_error& error) {
        say_error("dlasim: {}\n", printable(error.what()));
        return kBadInput;
    } catch (const nlohmann::json::exception& error) {
        say_error("dlasim: input: {}\n", printable(error.what()));
        return kBadInput;
    } catch (const std::exception& error) {
        if (!allocation_failed()) say_error("dlasim: {}\n", error.what());
        return kMachineBroke;
    }
}

}  // namespace

int guarded(const std::function<int()>& command, int no_memory) noexcept
{
    set_no_memory_status(no_memory);
    int status = kMachineBroke;
    bool failed = false;
    try {
        status = status_of(command);
    } catch (const std::bad_alloc&) {
        failed = true;
    } catch (...) {  // something that is no exception, or one while another is reported
        if (!allocation_failed()) say_error(std::string_view("dlasim: ends on an error it cannot name\n"));
    }
    // A library may have caught the exception, and the machine may hang for it.
    if (!failed && (!allocation_failed() || status == kDone || status == kMismatch || status == kInterrupted)) return status;
    say_error(std::string_view(kNoMemoryText));
    return no_memory;
}

}  // namespace dlasim

// Runs a fuzz target on seeded mutations of good files and says what came of it.
//
//   fuzz READER [--runs N] [--seconds S] [--seed K] [FILE...]     FILEs are run as they are, without mutations
//
// A crash, a signal, an exception that is no ConfigError, more than ten seconds of CPU time (a hundred with sanitizers and -O0, where
// everything takes forty times as long) or three GiB of memory for an input end it with status 1; the input stands in fuzz_READER.input
// then. So does a run in which hardly anything was taken: it tests nothing.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/files/number.h"
#include "fuzz.h"
#include "mutator.h"

extern "C" void __sanitizer_set_death_callback(void (*)()) __attribute__((weak));

namespace dlasim::fuzz {
namespace {

constexpr rlim_t kMaxMemory = rlim_t{3} << 30;
constexpr int kMaxSeconds = 10, kMaxSecondsSanitized = 100;

std::vector<const Target*>& targets()
{
    static std::vector<const Target*> all;
    return all;
}

const Target* g_target = nullptr;
std::string g_name;
char g_file[256];
const char* volatile g_input = nullptr;
volatile std::size_t g_size = 0;

/// Async-signal-safe: saves the input under test.
void save_input()
{
    const int descriptor = ::open(g_file, O_CREAT | O_WRONLY | O_TRUNC, 0644);
    if (descriptor < 0) return;
    for (std::size_t done = 0; done < g_size;) {
        const ssize_t n = ::write(descriptor, g_input + done, g_size - done);
        if (n <= 0) break;
        done += static_cast<std::size_t>(n);
    }
    ::close(descriptor);
}

void tell(const char* text) { [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, text, std::strlen(text)); }

void on_signal(int number)
{
    save_input();
    tell(number == SIGPROF ? "an input takes too much CPU time; saved as " : "an input crashes the reader; saved as ");
    tell(g_file);
    tell("\n");
    ::_exit(1);
}

[[noreturn]] void finding(const std::string& what)
{
    save_input();
    fmt::print(stderr, "{}: {}; saved as {}\n", g_name, what, g_file);
    std::exit(1);
}

bool sanitized() { return __sanitizer_set_death_callback != nullptr; }

void watch()
{
    static std::array<char, 1 << 16> stack;  // a stack overflow leaves none of the other
    const stack_t other{stack.data(), 0, stack.size()};
    ::sigaltstack(&other, nullptr);
    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_ONSTACK;
    if (sanitized()) __sanitizer_set_death_callback(save_input);
    else
        for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) ::sigaction(number, &action, nullptr);
    for (const int number : {SIGABRT, SIGPROF}) ::sigaction(number, &action, nullptr);
    const rlimit memory{kMaxMemory, kMaxMemory};
    if (!sanitized()) ::setrlimit(RLIMIT_AS, &memory);  // a sanitizer reserves its shadow
}

void time_limit(int seconds)
{
    const itimerval timer{{0, 0}, {seconds, 0}};
    ::setitimer(ITIMER_PROF, &timer, nullptr);
}

bool run(const std::string& input)
{
    g_input = input.data();
    g_size = input.size();
    try {
        return g_target->input(reinterpret_cast<const std::uint8_t*>(input.data()), input.size()) == 0;
    } catch (const std::bad_alloc&) {
        finding("an input takes more than three GiB");
    } catch (const std::exception& error) {
        finding(std::string("an input ends with an exception that is no refusal: ") + error.what());
    }
}

std::string contents(const std::filesystem::path& file)
{
    std::ifstream in(file, std::ios::binary);
    if (!in) throw ConfigError(file.string(), "cannot be opened");
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

struct Order {
    std::uint64_t runs = 1000, seconds = UINT64_MAX, seed = 1;
    std::vector<std::string> files;
};

Order order_of(int argc, char** argv)
{
    Order order;
    for (int i = 2; i < argc; ++i) {
        const std::string word = argv[i];
        std::uint64_t* const number = word == "--runs"      ? &order.runs
                                      : word == "--seconds" ? &order.seconds
                                      : word == "--seed"    ? &order.seed
                                                            : nullptr;
        if (!number) {
            order.files.push_back(word);
            continue;
        }
        const auto value = whole_number(++i < argc ? argv[i] : "");
        if (!value) throw ConfigError(word, "expected a whole number");
        *number = *value;
        if (word == "--seconds") order.runs = UINT64_MAX;
    }
    return order;
}

int drive(const Order& order)
{
    using Clock = std::chrono::steady_clock;
    for (const std::string& file : order.files) fmt::print("{}: {}\n", file, run(contents(file)) ? "taken" : "refused");
    if (!order.files.empty()) return 0;
    const std::vector<std::string> good = g_target->seeds();
    for (const std::string& seed : good)
        if (!run(seed)) finding("a good file is refused");
    Mutator mutator(order.seed, good, g_target->words());
    const Clock::time_point start = Clock::now(),
                            end = order.seconds == UINT64_MAX ? Clock::time_point::max() : start + std::chrono::seconds(order.seconds);
    std::uint64_t inputs = 0, taken = 0;
    for (std::uint64_t i = 0; i < order.runs && (i % 16 != 0 || Clock::now() < end); ++i) {
        const std::string input = mutator.next();
        time_limit(sanitized() ? kMaxSecondsSanitized : kMaxSeconds);
        if (run(input)) {
            ++taken;
            mutator.keep(input);
        }
        ++inputs;
    }
    time_limit(0);
    rusage usage = {};
    ::getrusage(RUSAGE_SELF, &usage);
    fmt::print("{}: {} inputs, {} taken, {} refused, {:.0f} s, {} MiB at most\n", g_name, inputs, taken, inputs - taken,
               std::chrono::duration<double>(Clock::now() - start).count(), usage.ru_maxrss >> 10);
    if (taken * 200 < inputs) {
        fmt::print(stderr, "{}: hardly an input was taken, the reader was not tested\n", g_name);
        return 1;
    }
    return 0;
}

}  // namespace

Target::Target(const char* reader, Texts good_files, Texts words_of_reader, Input take)
    : name(reader), seeds(good_files), words(words_of_reader), input(take)
{
    targets().push_back(this);
}

void expect(bool holds, const char* what)
{
    if (!holds) finding(std::string("must hold and does not: ") + what);
}

std::string scratch_folder() { return ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : std::filesystem::temp_directory_path().string(); }

std::string repository_file(const std::string& path) { return contents(std::filesystem::path(DLASIM_ROOT) / path); }

std::vector<std::string> repository_files(const std::string& folder, const std::string& ending)
{
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(DLASIM_ROOT) / folder))
        if (entry.path().string().ends_with(ending)) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> texts;
    for (const auto& path : paths) texts.push_back(contents(path));
    return texts;
}

}  // namespace dlasim::fuzz

extern "C" int sc_main(int, char*[]) { return 0; }  // SystemC's library wants one

int main(int argc, char** argv)
{
    using namespace dlasim::fuzz;
    for (const Target* target : targets())
        if (argc > 1 && target->name == argv[1]) g_target = target;
    if (!g_target) {
        for (const Target* target : targets())
            fmt::print(stderr, "usage: fuzz {} [--runs N] [--seconds S] [--seed K] [FILE...]\n", target->name);
        return 2;
    }
    g_name = "fuzz_" + g_target->name;
    std::snprintf(g_file, sizeof g_file, "%s.input", g_name.c_str());
    watch();
    try {
        return drive(order_of(argc, argv));
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}: {}\n", g_name, error.what());
        return 2;
    }
}

#include "app/interrupt.h"

#include <csignal>

namespace dlasim {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;

void remember(int) { g_interrupted = 1; }

}  // namespace

void watch_for_interrupt()
{
    struct sigaction action = {};
    action.sa_handler = remember;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    struct sigaction old = {};
    if (sigaction(SIGHUP, nullptr, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // not under nohup
}

bool interrupted() { return g_interrupted != 0; }

}  // namespace dlasim

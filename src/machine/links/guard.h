// Around what SystemC's kernel calls and what calls into the platform: nothing of an exception but what is the platform's own
// business crosses the kernel.
#pragma once
#include <exception>
#include <systemc>

#include "links/failures.h"

namespace dlasim {

/// The second function receives the message of an exception of `call`.
template <class Call, class Tell>
void guard_kernel(Call call, Tell tell)
{
    try {
        call();
    } catch (const sc_core::sc_report&) {  // of the platform, from a call of ours into it
        throw;
    } catch (const sc_core::sc_unwind_exception&) {  // this process has been killed in one
        throw;
    } catch (const std::exception& error) {
        tell(error.what());
    } catch (...) {
        tell(kNamelessError);
    }
}

}  // namespace dlasim

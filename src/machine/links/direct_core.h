// A core whose evaluation is one direct call: advance() and horizon() are bound at compile time, without a virtual table.
//
//   class SdpCore final : public DirectCore<SdpCore> { advance, horizon, .. };
#pragma once
#include "links/core.h"

namespace dlasim {

template <class Self>
class DirectCore : public Core {
public:
    Cycle evaluate(Cycle to) final
    {
        Self& self = static_cast<Self&>(*this);
        self.Self::advance(to);
        return self.Self::horizon();
    }
};

}  // namespace dlasim

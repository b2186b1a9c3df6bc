if(TARGET dlasim::platform)
    dlasim_test(window_machine_test.cpp quick USES dlasim::platform nlohmann_json::nlohmann_json)
endif()
